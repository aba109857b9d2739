use rust_hdl::prelude::*;
use verbena_hdl::verilog::*;
fn main() {
    let mut cu = Box::new(verbena_hdl::responder::Control::<2, 7, 5, 6>::new(false, false, false));
    cu.connect_all();
    let d = emit(cu.as_ref(), "control", &Options::default()).unwrap();
    std::fs::write("/tmp/w/core_cu.v", d.to_single_text()).unwrap();
    let mut t = Box::new(verbena_hdl::responder::Control::<8, 13, 11, 12>::new(true, true, true));
    t.connect_all();
    let d = emit(t.as_ref(), "control", &Options::default()).unwrap();
    std::fs::write("/tmp/w/core_ten.v", d.to_single_text()).unwrap();
}
