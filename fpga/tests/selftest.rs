// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `cu` board's self test on its Verilated RTL: it holds, and it fails where the board is broken. On a bitstream: `fpga selftest --bitstream`.

use verbena_fpga::board::selftest::{run, Options, Report, RESET_CYCLES};
use verbena_fpga::board::{CuBoard, SimulatedLine};
use verbena_fpga::cu_netlist;
use verbena_tb::verilated::Model;

const EXTERNAL: Options = Options { external: true };

/// The board, out of reset; `text`: its Verilog.
fn board(text: &str, link: u32, ready: u32) -> SimulatedLine {
    let ports = cu_netlist::bench_ports();
    let model = Model::from_text(text, "cu_bench", &ports, 1).unwrap_or_else(|e| panic!("{e:#}"));
    let mut line = SimulatedLine::new(model, ports).unwrap();
    line.set("mac_link", link).unwrap();
    line.set("mac_tx_ready", ready).unwrap();
    line.run(RESET_CYCLES);
    line
}

fn rtl() -> String {
    cu_netlist::rtl_text().unwrap_or_else(|e| panic!("{e:#}"))
}

/// The first step that failed.
fn failed(report: &Report) -> Option<&str> {
    report.steps.iter().find(|s| !s.held).map(|s| s.name.as_str())
}

#[test]
fn it_holds_by_the_loop_inside_and_by_the_pins() {
    let mut line = board(&rtl(), 1, 1);
    assert_eq!(line.lights() & 0x43, 3, "link, loopback, no error after reset");
    let report = run(&mut line, &EXTERNAL, |_| {});
    assert!(report.held(), "{:#?}", report.steps);
    let names: Vec<&str> = report.steps.iter().map(|s| s.name.as_str()).collect();
    for wanted in [
        "WRITE",
        "SEND",
        "READ",
        "WRITE, by the pins",
        "SEND, by the pins",
        "READ, by the pins",
    ] {
        let step = report
            .steps
            .iter()
            .find(|s| s.name == wanted)
            .unwrap_or_else(|| panic!("{wanted} is missing: {names:?}"));
        assert!(step.seen.contains("bytes"), "{wanted}: {}", step.seen);
    }
    // Frames went both ways, requests came, errors were seen when they were provoked and are gone; the loopback is off.
    assert_eq!(line.lights_seen & 0x1f, 0x1f);
    assert_eq!(line.lights() & 0x43, 1);
}

/// A frame that can't leave costs that frame, and neither the engine nor the UART.
fn goes_on_without_a_mac_that_takes_frames(link: u32) {
    let mut line = board(&rtl(), link, 0);
    let report = run(&mut line, &EXTERNAL, |_| {});
    assert_eq!(failed(&report), Some("WRITE, by the pins"), "link {link}: {:#?}", report.steps);
    let mut board = CuBoard::open(&mut line).unwrap();
    let status = board.status().unwrap();
    assert!(status.errors.dropped && !status.loopback, "{status:?}");
    assert_eq!(status.link, link == 1);
    // And by the loop inside all is well again.
    let report = run(&mut line, &Options::default(), |_| {});
    assert!(report.held(), "link {link}: {:#?}", report.steps);
}

#[test]
fn without_a_link_the_board_goes_on() {
    goes_on_without_a_mac_that_takes_frames(0);
}

#[test]
fn without_a_mac_that_takes_frames_the_board_goes_on() {
    goes_on_without_a_mac_that_takes_frames(1);
}

/// A board with one broken wire is found out.
fn fails_where_broken(from: &str, to: &str, step: &str) {
    let (from, to) = (format!("        {from}"), format!("        {to}"));
    let rtl = rtl();
    assert_eq!(rtl.matches(&from).count(), 1, "{from}");
    let mut line = board(&rtl.replace(&from, &to), 1, 1);
    let report = run(&mut line, &EXTERNAL, |_| {});
    assert_eq!(failed(&report), Some(step), "{to}: {:#?}", report.steps);
}

#[test]
fn a_wrong_data_wire_is_found_out() {
    fails_where_broken(".mac_rx_data(mac_data)", ".mac_rx_data(mac_data ^ 32'h100)", "WRITE, by the pins");
}

#[test]
fn a_frame_without_an_end_is_found_out() {
    fails_where_broken(".mac_rx_last(mac_last)", ".mac_rx_last(1'b0)", "WRITE, by the pins");
}

#[test]
fn an_open_serial_wire_is_found_out() {
    fails_where_broken(".usb_tx(usb_tx)", ".usb_tx()", "board");
}
