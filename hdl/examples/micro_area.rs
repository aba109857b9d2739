use rust_hdl::prelude::*;
fn main() {
    let mut s = 12345u64;
    let words: Vec<u32> = (0..2048).map(|_| { s = s.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407); (s >> 40) as u32 & 0xfffff }).collect();
    let mut b = Box::new(verbena_hdl::micro::Core::new(&words));
    b.connect_all();
    let d = verbena_hdl::verilog::emit(&*b, "core", &Default::default()).unwrap_or_else(|e| panic!("{e}"));
    print!("{}", d.to_single_text());
}
