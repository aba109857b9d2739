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
    let model = Model::from_text(text, "cu_bench", &ports, 2).unwrap_or_else(|e| panic!("{e:#}"));
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
#[test]
fn without_a_mac_that_takes_frames_the_board_goes_on() {
    let rtl = rtl();
    for (link, ready) in [(0, 0), (1, 0)] {
        let mut line = board(&rtl, link, ready);
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
}

/// A board with one broken wire is found out.
#[test]
fn it_fails_where_the_board_is_broken() {
    let rtl = rtl();
    let broken = |from: &str, to: &str| {
        assert_eq!(rtl.matches(from).count(), 1, "{from}");
        rtl.replace(from, to)
    };
    let cases = [
        (".mac_rx_data(mac_data)", ".mac_rx_data(mac_data ^ 32'h100)", "WRITE, by the pins"),
        (".mac_rx_last(mac_last)", ".mac_rx_last(1'b0)", "WRITE, by the pins"),
        (".usb_tx(usb_tx)", ".usb_tx()", "board"),
    ];
    for (from, to, step) in cases {
        let mut line = board(&broken(&format!("        {from}"), &format!("        {to}")), 1, 1);
        let report = run(&mut line, &EXTERNAL, |_| {});
        assert_eq!(failed(&report), Some(step), "{to}: {:#?}", report.steps);
    }
}
