use rust_hdl::prelude::*;
use verbena_hdl::stream::*;
fn main() {
    let mut f = Fifo::<4, 5, 37>::default();
    f.connect_all();
    match verbena_hdl::verilog::emit(&f, "fifo_top", &Default::default()) {
        Ok(d) => println!("{}", d.to_single_text()),
        Err(e) => println!("{e}"),
    }
    let mut f = Skid::<320>::default();
    f.connect_all();
    match verbena_hdl::verilog::emit(&f, "skid_top", &Default::default()) {
        Ok(d) => println!("{}", d.to_single_text()),
        Err(e) => println!("{e}"),
    }
}
