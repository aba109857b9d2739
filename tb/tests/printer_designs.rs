// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whole small designs through the printer: hierarchy, sharing, interfaces, links, arrays, structs, several registers.

use rust_hdl::prelude::*;
use verbena_hdl::stream::Skid;
use verbena_hdl::verilog::{emit, Options};
use verbena_tb::{diff::Diff, drive};

/// A chain of skids: one module, many instances, no loop for Verilator.
#[derive(LogicBlock)]
struct Chain {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s_data: Signal<In, Bits<12>>,
    pub s_valid: Signal<In, Bit>,
    pub s_ready: Signal<Out, Bit>,
    pub m_data: Signal<Out, Bits<12>>,
    pub m_valid: Signal<Out, Bit>,
    pub m_ready: Signal<In, Bit>,
    stage: [Skid<12>; 8],
}

impl Default for Chain {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            s_data: Default::default(),
            s_valid: Default::default(),
            s_ready: Default::default(),
            m_data: Default::default(),
            m_valid: Default::default(),
            m_ready: Default::default(),
            stage: std::array::from_fn(|_| Skid::default()),
        }
    }
}

impl Logic for Chain {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..8 {
            self.stage[i].clock.next = self.clock.val();
            self.stage[i].reset.next = self.reset.val();
        }
        self.stage[0].s_data.next = self.s_data.val();
        self.stage[0].s_valid.next = self.s_valid.val();
        self.s_ready.next = self.stage[0].s_ready.val();
        for i in 0..7 {
            self.stage[i + 1].s_data.next = self.stage[i].m_data.val() + 1;
            self.stage[i + 1].s_valid.next = self.stage[i].m_valid.val();
            self.stage[i].m_ready.next = self.stage[i + 1].s_ready.val();
        }
        self.m_data.next = self.stage[7].m_data.val();
        self.m_valid.next = self.stage[7].m_valid.val();
        self.stage[7].m_ready.next = self.m_ready.val();
    }

    verbena_hdl::block_name!("Eight skids in a row.");
}

#[test]
fn a_chain_is_one_module_and_many_instances() {
    let mut chain = Box::new(Chain::default());
    chain.connect_all();
    let design = emit(&*chain, "chain", &Options { prefix: "vb_".into() }).expect("printed");
    let names: Vec<&str> = design.modules.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["vb_skid_12", "chain"]);
    assert!(design.modules[1].text.contains("// Eight skids in a row."));
    assert!(!design.to_single_text().contains('$'));
    let again = emit(&*chain, "chain", &Options { prefix: "vb_".into() }).expect("printed");
    assert_eq!(design.to_single_text(), again.to_single_text());
    let warnings = Diff::new("chain")
        .cycles(500)
        .run(Chain::default(), drive!(clock, reset, s_data, s_valid, m_ready));
    assert_eq!(warnings, "");
}

#[derive(Copy, Clone, Debug, PartialEq, Default, LogicStruct)]
struct Beat {
    last: Bit,
    data: Bits<40>,
    keep: Bits<5>,
}

#[derive(LogicInterface, Clone, Debug, Default)]
#[join = "Source"]
struct Sink {
    pub beat: Signal<In, Beat>,
    pub valid: Signal<In, Bit>,
    pub ready: Signal<Out, Bit>,
}

#[derive(LogicInterface, Clone, Debug, Default)]
#[join = "Sink"]
struct Source {
    pub beat: Signal<Out, Beat>,
    pub valid: Signal<Out, Bit>,
    pub ready: Signal<In, Bit>,
}

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
enum State {
    Empty,
    Full,
    Drain,
}

/// Holds a beat, swaps its halves, counts.
#[derive(LogicBlock, Default)]
struct Station {
    pub clock: Signal<In, Clock>,
    pub s: Sink,
    pub m: Source,
    held: DFF<Beat>,
    state: DFF<State>,
    out: Signal<Local, Beat>,
}

impl Logic for Station {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held, state);
        self.s.ready.next = false;
        self.m.valid.next = false;
        self.out.next.last = self.held.q.val().last;
        self.out.next.data = (self.held.q.val().data << 20) | (self.held.q.val().data >> 20);
        self.out.next.keep = self.held.q.val().keep + 1;
        match self.state.q.val() {
            State::Empty => {
                self.s.ready.next = true;
                if self.s.valid.val() {
                    self.held.d.next = self.s.beat.val();
                    self.state.d.next = State::Full;
                }
            }
            State::Full => {
                self.m.valid.next = true;
                if self.m.ready.val() {
                    self.state.d.next = State::Drain;
                }
                if self.out.val().keep == 3 {
                    self.out.next.keep = 0.into();
                }
            }
            State::Drain => {
                self.state.d.next = State::Empty;
            }
        }
        self.m.beat.next = self.out.val();
    }

    verbena_hdl::block_name!();
}

/// Links outside to inside, joins inside.
#[derive(LogicBlock, Default)]
struct Pair {
    pub clock: Signal<In, Clock>,
    pub s: Sink,
    pub m: Source,
    first: Station,
    second: Station,
}

impl Logic for Pair {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, first, second);
        Sink::link(&mut self.s, &mut self.first.s);
        Source::join(&mut self.first.m, &mut self.second.s);
        Source::link(&mut self.m, &mut self.second.m);
    }

    verbena_hdl::block_name!();
}

#[test]
fn interfaces_structs_and_enums() {
    let warnings = Diff::new("pair").cycles(1000).run(
        Pair::default(),
        drive!(clock, s.beat: |w| Beat { last: w.take(), data: w.take(), keep: w.take() }, s.valid, m.ready),
    );
    assert_eq!(warnings, "");
}

/// A running flag and what follows it: one driver for both.
#[derive(LogicBlock, Default)]
struct Priority {
    pub request: Signal<In, Bits<8>>,
    pub found: Signal<Out, Bit>,
    pub index: Signal<Out, Bits<4>>,
    pub count: Signal<Out, Bits<4>>,
}

impl Logic for Priority {
    #[hdl_gen]
    fn update(&mut self) {
        self.found.next = false;
        self.index.next = 15.into();
        self.count.next = 0.into();
        for i in 0..8 {
            if self.request.val().get_bit(i) && !self.found.val() {
                self.found.next = true;
                self.index.next = self.count.val();
            }
            self.count.next = self.count.val() + self.request.val().get_bit(i);
        }
    }

    verbena_hdl::block_name!();
}

#[test]
fn running_values() {
    let warnings = Diff::new("priority_scan").cycles(1000).run(Priority::default(), drive!(request));
    assert_eq!(warnings, "");
}
