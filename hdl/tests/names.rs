// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names: types' to module names, brackets, integers.

// Not the crate's own unit tests: the engine would be compiled once more for them.
#[allow(dead_code)]
#[path = "../src/verilog/names.rs"]
mod names;

use names::*;

#[test]
fn names_of_types_become_module_names() {
    assert_eq!(module_name("verbena_hdl::rx::RxAlign<64>"), "rx_align_64");
    assert_eq!(module_name("a::SdpRam<9, b::Bits<32>>"), "sdp_ram_9_32");
    assert_eq!(module_name("a::Skid<b::c::TxBeat>"), "skid_tx_beat");
    assert_eq!(snake("AXILite"), "axi_lite");
}

#[test]
fn brackets_are_evaluated() {
    let loops = Loops::from([("i".to_string(), 2)]);
    assert_eq!(evaluate_brackets("x[(i+1)]$q", &loops).as_deref(), Ok("x$3$q"));
    assert_eq!(evaluate_brackets("a[i*4-1][0]$d", &loops).as_deref(), Ok("a$7$0$d"));
    assert_eq!(evaluate_brackets("a[N-1]", &loops), Err("N".to_string()));
    assert!(evaluate_brackets("a[i-3]", &loops).is_err());
}

#[test]
fn integers_of_every_form() {
    assert_eq!(parse_integer("0x1F_u64"), Some(31));
    assert_eq!(parse_integer("0b1010"), Some(10));
    assert_eq!(parse_integer("1_000"), Some(1000));
    assert_eq!(parse_integer("K"), None);
}
