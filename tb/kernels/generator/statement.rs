// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random statements: defaults for everything, then `if`, `match`, `for` that override, then outputs.

use super::{ty, Kernel, Value, WIDTHS};

/// What a kernel declares.
#[derive(Default)]
pub struct Shape {
    pub types: String,
    pub fields: String,
}

/// Something a statement can assign.
#[derive(Clone)]
struct Target {
    write: String,
    width: usize,
}

/// Fills in the kernel's body.
pub fn kernel(k: &mut Kernel) -> Shape {
    let mut shape = Shape::default();
    let mut targets = vec![];

    // Registers, and a state machine in most.
    let registers = 1 + k.random.below(2);
    let machine = k.random.chance(35);
    let mut names = vec![];
    for n in 0..registers {
        let width = width(k);
        shape.fields += &format!("    r{n}: DFF<{}>,\n", ty(width));
        names.push(format!("r{n}"));
        k.values.push(Value {
            read: format!("self.r{n}.q.val()"),
            width,
        });
        targets.push(Target {
            write: format!("self.r{n}.d.next"),
            width,
        });
    }
    if machine {
        shape.types += "#[derive(Copy, Clone, Debug, PartialEq, LogicState)]\npub enum State_ {\n    Idle,\n    Run,\n    Wait,\n}\n\n";
        shape.fields += "    st: DFF<State_>,\n";
        names.push("st".into());
        k.values.push(Value {
            read: "(self.st.q.val() == State_::Run)".into(),
            width: 0,
        });
    }
    k.line(&format!("dff_setup!(self, clock, {});", names.join(", ")));

    // Locals: each gets a default and may be read from then on.
    for n in 0..1 + k.random.below(2) {
        let width = width(k);
        shape.fields += &format!("    l{n}: Signal<Local, {}>,\n", ty(width));
        assign(k, &format!("self.l{n}.next"), width, 3);
        k.values.push(Value {
            read: format!("self.l{n}.val()"),
            width,
        });
        targets.push(Target {
            write: format!("self.l{n}.next"),
            width,
        });
    }
    if k.random.chance(15) {
        record(k, &mut shape);
    }
    if k.random.chance(15) {
        array(k, &mut shape);
    }
    // One output is assigned early and may be overridden and read.
    shape.fields += "    pub y0: Signal<Out, Bits<33>>,\n";
    assign(k, "self.y0.next", 33, 2);
    targets.push(Target {
        write: "self.y0.next".into(),
        width: 33,
    });
    k.values.push(Value {
        read: "self.y0.val()".into(),
        width: 33,
    });

    for _ in 0..1 + k.random.below(2) {
        statement(k, &targets, 0);
    }
    if machine {
        state_machine(k, &targets);
    }
    for n in 1..2 + k.random.below(2) {
        let width = width(k);
        shape.fields += &format!("    pub y{n}: Signal<Out, {}>,\n", ty(width));
        assign(k, &format!("self.y{n}.next"), width, 3);
    }
    // Everything is visible somewhere.
    let all: Vec<Value> = k.values.clone();
    shape.fields += "    pub z: Signal<Out, Bits<70>>,\n";
    let terms: Vec<String> = all
        .iter()
        .skip(super::INPUTS.len().min(4))
        .map(|v| match v.width {
            0 => format!("bit_cast::<70, 1>({}.into())", v.read),
            w => format!("bit_cast::<70, {w}>({})", v.read),
        })
        .collect();
    k.line(&format!("self.z.next = {};", terms.join(" + ")));
    shape
}

fn width(k: &mut Kernel) -> usize {
    if k.random.chance(25) {
        0
    } else {
        *k.random.pick(WIDTHS)
    }
}

fn value(k: &mut Kernel, width: usize, depth: usize) -> String {
    if width == 0 {
        return match k.random.below(8) {
            0 => k.random.pick(&["true", "false"]).to_string(),
            _ => k.bit(depth),
        };
    }
    match k.random.below(8) {
        0 => format!("{}.into()", k.literal(width)),
        _ => k.bits(width, depth),
    }
}

fn assign(k: &mut Kernel, target: &str, width: usize, depth: usize) {
    let value = value(k, width, depth);
    let value = strip(&value);
    k.line(&format!("{target} = {value};"));
}

/// Without the outer parentheses, which rustc dislikes.
fn strip(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) else {
        return text;
    };
    let mut depth = 0;
    for c in inner.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return text;
        }
    }
    inner
}

fn some_assignments(k: &mut Kernel, targets: &[Target]) {
    for _ in 0..1 + usize::from(k.random.chance(25)) {
        let target = k.random.pick(targets).clone();
        let depth = 1 + k.random.below(2);
        assign(k, &target.write, target.width, depth);
    }
}

fn statement(k: &mut Kernel, targets: &[Target], nesting: usize) {
    let inner = |k: &mut Kernel| {
        k.depth += 1;
        if nesting < 2 && k.random.chance(20) {
            statement(k, targets, nesting + 1);
        } else {
            some_assignments(k, targets);
        }
        k.depth -= 1;
    };
    match k.random.below(5) {
        0 | 1 => {
            let test = k.bit(2);
            k.line(&format!("if {} {{", strip(&test)));
            inner(k);
            if k.random.chance(40) {
                let test = k.bit(1);
                k.line(&format!("}} else if {} {{", strip(&test)));
                inner(k);
            }
            if k.random.chance(50) {
                k.line("} else {");
                inner(k);
            }
            k.line("}");
        }
        2 => {
            k.line("match self.a3.val().index() {");
            k.depth += 1;
            for n in 0..1 + k.random.below(5) {
                k.line(&format!("{n} => {{"));
                inner(k);
                k.line("}");
            }
            k.line("_ => {");
            if k.random.chance(50) {
                inner(k);
            }
            k.line("}");
            k.depth -= 1;
            k.line("}");
        }
        3 => {
            // A running value, and one that depends on it while it runs.
            let bits: Vec<Target> = targets
                .iter()
                .filter(|t| t.width > 0 && t.write.contains("self.l"))
                .cloned()
                .collect();
            let Some(count) = bits.first().cloned() else {
                return some_assignments(k, targets);
            };
            let read = count.write.replace(".next", ".val()");
            let follower = k.random.pick(targets).clone();
            k.line("for i in 0..4 {");
            k.depth += 1;
            k.line("if self.a4.val().get_bit(i) {");
            k.line(&format!("    {} = {read} + 1;", count.write));
            k.line("}");
            if follower.width > 0 && follower.write != count.write {
                let literal = k.literal(follower.width);
                let test = k.random.below(16) & ((1usize << count.width.min(4)) - 1);
                k.line(&format!("if {read} == {test} {{"));
                k.line(&format!("    {} = {literal}.into();", follower.write));
                k.line("}");
            }
            k.line("if self.a3.val().index() == i {");
            k.line(&format!("    {} = {read} - 1;", count.write));
            k.line("}");
            k.depth -= 1;
            k.line("}");
        }
        _ => some_assignments(k, targets),
    }
}

fn state_machine(k: &mut Kernel, targets: &[Target]) {
    k.line("match self.st.q.val() {");
    k.depth += 1;
    let default = k.random.chance(60);
    for (state, next) in [("Idle", "Run"), ("Run", "Wait"), ("Wait", "Idle")] {
        if default && state == "Wait" {
            k.line("_ => {");
        } else {
            k.line(&format!("State_::{state} => {{"));
        }
        k.depth += 1;
        let test = k.bit(1);
        k.line(&format!("if {} {{", strip(&test)));
        k.line(&format!("    self.st.d.next = State_::{next};"));
        k.line("}");
        if k.random.chance(60) {
            some_assignments(k, targets);
        }
        k.depth -= 1;
        k.line("}");
    }
    k.depth -= 1;
    k.line("}");
}

/// A struct written field by field, read whole and by field.
fn record(k: &mut Kernel, shape: &mut Shape) {
    shape.types += "#[derive(Copy, Clone, Debug, PartialEq, Default, LogicStruct)]\npub struct Rec_ {\n    op: Bits<5>,\n    flag: Bit,\n    data: Bits<33>,\n}\n\n";
    shape.fields += "    rec: Signal<Local, Rec_>,\n    rec_q: DFF<Rec_>,\n";
    k.line("dff_setup!(self, clock, rec_q);");
    assign(k, "self.rec.next.op", 5, 2);
    assign(k, "self.rec.next.flag", 0, 2);
    assign(k, "self.rec.next.data", 33, 2);
    if k.random.chance(50) {
        let test = k.bit(1);
        k.line(&format!("if {} {{", strip(&test)));
        k.depth += 1;
        assign(k, "self.rec.next.data", 33, 1);
        k.line("self.rec_q.d.next = self.rec.val();");
        k.depth -= 1;
        k.line("}");
    }
    k.values.push(Value {
        read: "self.rec.val().op".into(),
        width: 5,
    });
    k.values.push(Value {
        read: "self.rec.val().flag".into(),
        width: 0,
    });
    k.values.push(Value {
        read: "self.rec_q.q.val().data".into(),
        width: 33,
    });
}

/// An array of signals and a chain of registers, by loop arithmetic.
fn array(k: &mut Kernel, shape: &mut Shape) {
    shape.fields += "    arr: [Signal<Local, Bits<8>>; 4],\n    sh: [DFF<Bits<8>>; 4],\n    mux: Signal<Local, Bits<8>>,\n";
    let first = k.bits(8, 2);
    let each = k.bits(8, 1);
    k.line("for i in 0..4 {");
    k.line("    self.sh[i].clock.next = self.clock.val();");
    let mask = *k.random.pick(&["0x55", "7", "255"]);
    k.line(&format!("    self.arr[i].next = self.sh[3 - i].q.val() ^ {mask};"));
    k.line("}");
    k.line(&format!("self.sh[0].d.next = {};", strip(&first)));
    k.line("for i in 0..3 {");
    k.line("    self.sh[i + 1].d.next = self.sh[i].q.val() + self.arr[(i + 1)].val();");
    k.line("}");
    k.line(&format!("self.mux.next = {};", strip(&each)));
    k.line("for i in 0..4 {");
    k.line("    if self.a4.val().index() == i * 2 {");
    k.line("        self.mux.next = self.arr[i].val();");
    k.line("    }");
    k.line("}");
    k.values.push(Value {
        read: "self.mux.val()".into(),
        width: 8,
    });
    k.values.push(Value {
        read: "self.sh[2].q.val()".into(),
        width: 8,
    });
}
