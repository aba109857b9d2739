// SPDX-License-Identifier: MIT OR Apache-2.0
//! Around a Verilated model, made from the port list: a C interface, and a Verilog module that takes the inputs into registers.
//!
//! For a top `x` the interface is (a port of `w` bits takes `⌈w / 32⌉` words, least significant first):
//!
//! | function | does |
//! |---|---|
//! | `x_new()`, `x_free(m)` | a model, its clocks low; its end |
//! | `x_cycle(m, in, out)` | sets inputs, settles, copies the outputs as they stand *before* the edge, then clocks up |
//! | `x_settle(m, in, out)` | the same without the edge |
//! | `x_trace(m, path)` | starts an FST trace; returns 0 if the model is built without (`VM_TRACE`) |
//!
//! `in` holds all inputs but the clocks, `out` all outputs, each in the order of the port list, every port on a new word.
//!
//! Verilator computes what depends on a top's inputs in every evaluation, changed or not, and has that logic twice. Inputs that come from
//! registers with an edge of their own are looked at once a cycle:
//!
//! ```text
//!            inputs set                           outputs taken
//!  sample  __|‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾|_______    first evaluation: what depends on inputs
//!  clocks  ‾‾|_____________________________________________|‾‾‾‾‾‾‾    second: what depends on the state
//! ```

use super::Port;
use std::fmt::Write;

/// The port that takes the inputs into registers as it rises.
const SAMPLE: &str = "sampled_inputs";

/// Words of 32 bits that a port takes.
pub fn words(port: &Port) -> usize {
    port.width.div_ceil(32)
}

/// Words of the `in` and of the `out` array.
pub fn sizes(ports: &[Port]) -> (usize, usize) {
    let sum = |input: bool| ports.iter().filter(|p| p.input == input && !p.clock).map(words).sum();
    (sum(true), sum(false))
}

/// The C++ text for a model that Verilator built with `--prefix V{top}`.
pub fn generate(ports: &[Port], top: &str) -> String {
    let (head, body) = (HEAD.replace("TOP", top), BODY.replace("TOP", top).replace("SAMPLE", SAMPLE));
    let mut out = format!("{}\n", head.trim_start());
    let [mut copy_in, mut copy_out, mut clock]: [String; 3] = Default::default();
    let (mut at_in, mut at_out) = (0, 0);
    for port in ports {
        let member = format!("m->top->{}", member(&port.name));
        if port.clock && port.input {
            line(&mut clock, &format!("{member} = level;"));
        } else if port.input {
            load(&mut copy_in, &member, port.width, &format!("in + {at_in}"));
            at_in += words(port);
        } else {
            store(&mut copy_out, &member, port.width, &format!("out + {at_out}"));
            at_out += words(port);
        }
    }
    let functions = body
        .replace("  COPY_IN\n", &copy_in)
        .replace("  COPY_OUT\n", &copy_out)
        .replace("  CLOCK\n", &clock);
    out.push_str(&functions);
    out
}

/// The module around the top.
pub fn sampled(top: &str) -> String {
    format!("{top}_sampled")
}

/// Its text: the ports of the top, and the edge that its inputs wait for.
pub fn sampler(ports: &[Port], top: &str) -> String {
    let range = |port: &Port| match port.width {
        1 => String::new(),
        width => format!("[{}:0] ", width - 1),
    };
    let direction = |port: &Port| if port.input { "input" } else { "output" };
    let waits = |port: &&Port| port.input && !port.clock;
    let mut header = vec![format!("  input wire {SAMPLE}")];
    header.extend(ports.iter().map(|p| format!("  {} wire {}{}", direction(p), range(p), p.name)));
    let registers = ports
        .iter()
        .filter(waits)
        .map(|p| format!("  reg {}{}_{SAMPLE};\n", range(p), p.name));
    let takes = ports.iter().filter(waits).map(|p| format!("    {0}_{SAMPLE} <= {0};\n", p.name));
    let (registers, takes): (String, String) = (registers.collect(), takes.collect());
    let links = ports.iter().map(|p| match waits(&p) {
        true => format!("    .{0}({0}_{SAMPLE})", p.name),
        false => format!("    .{0}({0})", p.name),
    });
    let always = match takes.is_empty() {
        true => String::new(),
        false => format!("  always @(posedge {SAMPLE}) begin\n{takes}  end\n"),
    };
    format!(
        "\n// {top} with its inputs from registers: made by verbena_hdl::verilog::shim for simulation.\nmodule {}(\n{}\n);\n{registers}{always}  {top} dut(\n{}\n  );\nendmodule\n",
        sampled(top),
        header.join(",\n"),
        links.collect::<Vec<_>>().join(",\n")
    )
}

fn line(out: &mut String, text: &str) {
    let _ = writeln!(out, "  {text}");
}

fn load(out: &mut String, member: &str, width: usize, from: &str) {
    match width {
        0..=32 => line(out, &format!("{member} = ({from})[0] & 0x{:x}u;", (1u64 << width) - 1)),
        33..=64 => {
            let mask = u64::MAX >> (64 - width);
            line(
                out,
                &format!("{member} = (({from})[0] | ((uint64_t)({from})[1] << 32)) & 0x{mask:x}ull;"),
            );
        }
        _ => {
            let n = width.div_ceil(32);
            line(out, &format!("for (int i = 0; i < {n}; i++) {member}[i] = ({from})[i];"));
            if !width.is_multiple_of(32) {
                line(out, &format!("{member}[{}] &= 0x{:x}u;", n - 1, (1u64 << (width % 32)) - 1));
            }
        }
    }
}

fn store(out: &mut String, member: &str, width: usize, to: &str) {
    match width {
        0..=32 => line(out, &format!("({to})[0] = {member};")),
        33..=64 => line(
            out,
            &format!("({to})[0] = (uint32_t){member}; ({to})[1] = (uint32_t)({member} >> 32);"),
        ),
        _ => {
            let n = width.div_ceil(32);
            line(out, &format!("for (int i = 0; i < {n}; i++) ({to})[i] = {member}[i];"));
        }
    }
}

/// The C++ member that Verilator makes of a port's name.
fn member(name: &str) -> String {
    const CPP: &str = "bool catch char delete double explicit float friend int long mutable namespace new operator private \
                       protected public register short signed sizeof template this throw try typename using void volatile";
    if CPP.split(' ').any(|word| word == name) {
        format!("__SYM__{name}")
    } else {
        name.replace("__", "___05F")
    }
}

const HEAD: &str = r#"
// Made by verbena_hdl::verilog::shim. A C interface to the Verilated TOP.
#include <cstdint>
#include "VTOP.h"
#include "verilated.h"
#if VM_TRACE
#include "verilated_fst_c.h"
#endif

namespace {
struct Model {
  VerilatedContext context;
  VTOP *top = nullptr;
#if VM_TRACE
  VerilatedFstC *trace = nullptr;
#endif
};

void eval(Model *m) {
  m->top->eval();
#if VM_TRACE
  if (m->trace) m->trace->dump(m->context.time());
#endif
  m->context.timeInc(1);
}
"#;

const BODY: &str = r#"
void clock(Model *m, int level) {
  (void)level;
  CLOCK
  m->top->SAMPLE = !level;
  eval(m);
}

void copy_in(Model *m, const uint32_t *in) {
  (void)m; (void)in;
  COPY_IN
}

void copy_out(Model *m, uint32_t *out) {
  (void)m; (void)out;
  COPY_OUT
}
}  // namespace

extern "C" {
void *TOP_new() {
  Model *m = new Model;
  m->context.traceEverOn(true);
  m->top = new VTOP(&m->context, "TOP");
  eval(m);
  return m;
}

void TOP_free(void *model) {
  Model *m = static_cast<Model *>(model);
  m->top->final();
#if VM_TRACE
  if (m->trace) { m->trace->close(); delete m->trace; }
#endif
  delete m->top;
  delete m;
}

void TOP_settle(void *model, const uint32_t *in, uint32_t *out) {
  Model *m = static_cast<Model *>(model);
  if (m->top->SAMPLE) {
    m->top->SAMPLE = 0;
    eval(m);
  }
  copy_in(m, in);
  clock(m, 0);
  copy_out(m, out);
}

void TOP_cycle(void *model, const uint32_t *in, uint32_t *out) {
  TOP_settle(model, in, out);
  clock(static_cast<Model *>(model), 1);
}

int TOP_trace(void *model, const char *path) {
#if VM_TRACE
  Model *m = static_cast<Model *>(model);
  m->trace = new VerilatedFstC;
  m->top->trace(m->trace, 99);
  m->trace->open(path);
  return m->trace->isOpen();
#else
  (void)model; (void)path;
  return 0;
#endif
}
}  // extern "C"
"#;
