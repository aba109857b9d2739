// SPDX-License-Identifier: MIT OR Apache-2.0
//! The register map, tables and queue entries of a preset as Markdown, JSON and a C header. Same tables as the RTL, same text every time.

use crate::config::Config;
use crate::counters::COUNTERS;
use crate::layout::{completion_opcode, event_type, state, status, Field};
use crate::registers::{doorbell, operation, Access, ADDRESS_BITS, REGISTERS, ROWS, WINDOWS};
use std::fmt::Write;

/// A group: its name, what it is, and its numbers with their names.
type Values = (&'static str, &'static str, &'static [(&'static str, u32)]);

/// Numbers with names, by group.
const VALUES: &[Values] = &[
    (
        "doorbell",
        "word in a doorbell row",
        &[
            ("sq_producer", doorbell::SQ_PRODUCER),
            ("rq_producer", doorbell::RQ_PRODUCER),
            ("cq_consumer", doorbell::CQ_CONSUMER),
            ("cq_arm", doorbell::CQ_ARM),
        ],
    ),
    (
        "arm",
        "value of the CQ arm doorbell",
        &[("next", doorbell::ARM_NEXT), ("solicited", doorbell::ARM_SOLICITED)],
    ),
    (
        "operation",
        "operation of COMMAND",
        &[("modify_qp", operation::MODIFY_QP), ("query_qp", operation::QUERY_QP)],
    ),
    (
        "state",
        "QP state",
        &[
            ("reset", state::RESET),
            ("init", state::INIT),
            ("rtr", state::RTR),
            ("rts", state::RTS),
            ("sqd", state::SQD),
            ("err", state::ERR),
        ],
    ),
    (
        "completion_opcode",
        "opcode of a completion",
        &[
            ("recv", completion_opcode::RECV),
            ("recv_rdma_with_imm", completion_opcode::RECV_RDMA_WITH_IMM),
        ],
    ),
    (
        "status",
        "status of a completion",
        &[
            ("success", status::SUCCESS),
            ("local_length_error", status::LOCAL_LENGTH_ERROR),
            ("local_qp_operation_error", status::LOCAL_QP_OPERATION_ERROR),
            ("local_protection_error", status::LOCAL_PROTECTION_ERROR),
            ("wr_flush_error", status::WR_FLUSH_ERROR),
            ("local_access_error", status::LOCAL_ACCESS_ERROR),
            ("remote_invalid_request_error", status::REMOTE_INVALID_REQUEST_ERROR),
            ("remote_access_error", status::REMOTE_ACCESS_ERROR),
            ("remote_operation_error", status::REMOTE_OPERATION_ERROR),
            ("retry_exceeded", status::RETRY_EXCEEDED),
            ("rnr_retry_exceeded", status::RNR_RETRY_EXCEEDED),
        ],
    ),
    (
        "event_type",
        "type of an event",
        &[
            ("completion", event_type::COMPLETION),
            ("cq_error", event_type::CQ_ERROR),
            ("qp_fatal", event_type::QP_FATAL),
            ("bad_doorbell", event_type::BAD_DOORBELL),
            ("communication_established", event_type::COMMUNICATION_ESTABLISHED),
        ],
    ),
];

/// What the rows are, for the headings.
const ROW_TITLES: &[(&str, &str)] = &[
    ("qp", "QP row"),
    ("mr", "MR row"),
    ("cq", "CQ row"),
    ("mtt", "MTT entry"),
    ("rq_wqe", "Receive WQE, in host memory"),
    ("cqe", "Completion, in host memory"),
    ("event", "Event, in host memory"),
];

fn access(access: Access) -> &'static str {
    match access {
        Access::ReadOnly => "RO",
        Access::ReadWrite => "RW",
        Access::WriteOnly => "WO",
    }
}

/// `[7:4]`, or `[3]` for one bit.
fn range(field: &Field) -> String {
    if field.bits == 1 {
        format!("[{}]", field.low)
    } else {
        format!("[{}:{}]", field.low + field.bits - 1, field.low)
    }
}

fn title(row: &str) -> &'static str {
    ROW_TITLES.iter().find(|(name, _)| *name == row).map_or("Row", |(_, title)| title)
}

/// The register map as a document.
pub fn to_markdown(config: &Config) -> String {
    let mut out = String::new();
    let mut line = |text: &str| {
        out.push_str(text);
        out.push('\n');
    };
    line("# Registers, tables and queue entries");
    line("");
    line("Generated from `hdl/spec/src/registers.rs`, `layout.rs` and `counters.rs` by `cargo run --bin gen-docs`; don't edit.");
    line("");
    line(&format!(
        "Preset `{}`. AXI4-Lite, {ADDRESS_BITS} address bits, 32-bit data. An access with partial strobes, at an address off its word, to an",
        config.name
    ));
    line("unmapped address, beyond a window's rows or in the wrong direction ends with SLVERR and changes nothing. Bits that a read-write");
    line("register doesn't define are kept, read back, and without effect.");
    line("");
    line("## Registers");
    line("");
    line("| address | name | access | reset | what |");
    line("|---|---|---|---|---|");
    for register in REGISTERS.iter().filter(|r| r.exists(config)) {
        let reset = if register.access == Access::WriteOnly {
            "".into()
        } else {
            format!("0x{:08x}", register.reset_value(config))
        };
        line(&format!(
            "| 0x{:02x} | `{}` | {} | {reset} | {} |",
            register.address,
            register.name,
            access(register.access),
            register.what
        ));
    }
    line("");
    line("## Windows");
    line("");
    line("| base | name | access | row bytes | rows | what |");
    line("|---|---|---|---|---|---|");
    for window in WINDOWS {
        line(&format!(
            "| 0x{:06x} | `{}` | {} | {} | {} | {} |",
            window.base,
            window.name,
            access(window.access),
            window.stride,
            window.rows(config),
            window.what
        ));
    }
    line("");
    line("Upper halves of doorbell values are ignored.");
    line("");
    line("## Counters");
    line("");
    line("32 bits, wrapping; `counters + 4 * code`. Each frame from the MAC ends in exactly one counter of class Rx, each `rx_roce` in exactly one of");
    line("class Responder.");
    line("");
    line("| code | name | class | what |");
    line("|---|---|---|---|");
    for counter in COUNTERS {
        line(&format!(
            "| {} | `{}` | {:?} | {} |",
            counter.code, counter.name, counter.class, counter.what
        ));
    }
    for (name, fields, words) in ROWS {
        line("");
        line(&format!("## {} (`{name}`, {} bytes)", title(name), words * 4));
        line("");
        line("| word | bits | name | what |");
        line("|---|---|---|---|");
        let mut sorted: Vec<&Field> = fields.iter().collect();
        sorted.sort_by_key(|f| (f.word, f.low));
        for field in sorted {
            line(&format!(
                "| {} | {} | `{}` | {} |",
                field.word,
                range(field),
                field.name,
                field.what
            ));
        }
    }
    line("");
    line("## Values");
    line("");
    line("| group | name | value |");
    line("|---|---|---|");
    for (group, what, values) in VALUES {
        for (name, value) in *values {
            line(&format!("| `{group}`, {what} | `{name}` | {value} |"));
        }
    }
    out
}

/// A JSON string literal.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// `items`, one a line, in a JSON list.
fn list(indent: &str, items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.map(|item| format!("{indent}  {item}")).collect();
    format!("[\n{}\n{indent}]", items.join(",\n"))
}

/// The register map as JSON.
pub fn to_json(config: &Config) -> String {
    let registers = list(
        "  ",
        REGISTERS.iter().filter(|r| r.exists(config)).map(|r| {
            format!(
                "{{ \"address\": {}, \"name\": {}, \"access\": \"{}\", \"reset\": {}, \"what\": {} }}",
                r.address,
                quoted(r.name),
                access(r.access),
                r.reset_value(config),
                quoted(r.what)
            )
        }),
    );
    let windows = list(
        "  ",
        WINDOWS.iter().map(|w| {
            format!(
                "{{ \"base\": {}, \"name\": {}, \"access\": \"{}\", \"stride\": {}, \"rows\": {}, \"what\": {} }}",
                w.base,
                quoted(w.name),
                access(w.access),
                w.stride,
                w.rows(config),
                quoted(w.what)
            )
        }),
    );
    let counters = list(
        "  ",
        COUNTERS.iter().map(|c| {
            format!(
                "{{ \"code\": {}, \"name\": {}, \"class\": \"{:?}\", \"what\": {} }}",
                c.code,
                quoted(c.name),
                c.class,
                quoted(c.what)
            )
        }),
    );
    let rows = list(
        "  ",
        ROWS.iter().map(|(name, fields, words)| {
            let fields = list(
                "    ",
                fields.iter().map(|f| {
                    format!(
                        "{{ \"name\": {}, \"word\": {}, \"low\": {}, \"bits\": {}, \"what\": {} }}",
                        quoted(f.name),
                        f.word,
                        f.low,
                        f.bits,
                        quoted(f.what)
                    )
                }),
            );
            format!("{{ \"name\": {}, \"bytes\": {}, \"fields\": {fields} }}", quoted(name), words * 4)
        }),
    );
    let values = list(
        "  ",
        VALUES.iter().flat_map(|(group, _, values)| {
            values
                .iter()
                .map(move |(name, value)| format!("{{ \"group\": {}, \"name\": {}, \"value\": {value} }}", quoted(group), quoted(name)))
        }),
    );
    format!(
        "{{\n  \"preset\": {},\n  \"address_bits\": {ADDRESS_BITS},\n  \"registers\": {registers},\n  \"windows\": {windows},\n  \
         \"counters\": {counters},\n  \"rows\": {rows},\n  \"values\": {values}\n}}\n",
        quoted(config.name)
    )
}

/// One aligned `#define`.
fn define(out: &mut String, name: &str, value: impl std::fmt::Display, what: &str) {
    let comment = if what.is_empty() {
        String::new()
    } else {
        format!(" /* {} */", what.replace("*/", "* /"))
    };
    writeln!(out, "#define VERBENA_{:<44} {value}{comment}", name.to_uppercase()).expect("a string takes all");
}

/// The register map as a C header: addresses, counts, fields of rows (word, shift, mask), counters, named values.
pub fn to_c_header(config: &Config) -> String {
    let mut out = format!(
        "/* SPDX-License-Identifier: MIT OR Apache-2.0 */\n\
         /* Verbena registers, tables and queue entries, preset {}. Generated; don't edit. */\n\
         #ifndef VERBENA_REGISTERS_H\n#define VERBENA_REGISTERS_H\n\n#include <stdint.h>\n\n\
         /* A field of a row of 32-bit words: VERBENA_GET(row, QP_PMTU), VERBENA_SET(row, QP_PMTU, 5). */\n\
         #define VERBENA_GET(row, field) \\\n    \
         (((row)[VERBENA_##field##_WORD] >> VERBENA_##field##_SHIFT) & VERBENA_##field##_MASK)\n\
         #define VERBENA_SET(row, field, value) \\\n    \
         ((row)[VERBENA_##field##_WORD] = \\\n         \
         ((row)[VERBENA_##field##_WORD] & ~(VERBENA_##field##_MASK << VERBENA_##field##_SHIFT)) | \\\n         \
         (((uint32_t)(value) & VERBENA_##field##_MASK) << VERBENA_##field##_SHIFT))\n",
        config.name
    );
    out.push_str("\n/* Registers: byte addresses. */\n");
    for register in REGISTERS.iter().filter(|r| r.exists(config)) {
        let what = format!("{}: {}", access(register.access), register.what);
        define(
            &mut out,
            &format!("reg_{}", register.name),
            format_args!("0x{:02x}u", register.address),
            &what,
        );
    }
    out.push_str("\n/* Windows: base, bytes of a row, rows. */\n");
    for window in WINDOWS {
        let what = format!("{}: {}", access(window.access), window.what);
        define(&mut out, window.name, format_args!("0x{:06x}u", window.base), &what);
        define(&mut out, &format!("{}_stride", window.name), format_args!("{}u", window.stride), "");
        define(
            &mut out,
            &format!("{}_rows", window.name),
            format_args!("{}u", window.rows(config)),
            "",
        );
    }
    out.push_str("\n/* Counters: codes. */\n");
    for counter in COUNTERS {
        define(
            &mut out,
            &format!("counter_{}", counter.name),
            format_args!("{}u", counter.code),
            counter.what,
        );
    }
    for (name, fields, words) in ROWS {
        writeln!(out, "\n/* {}. */", title(name)).expect("a string takes all");
        define(&mut out, &format!("{name}_bytes"), format_args!("{}u", words * 4), "");
        for field in *fields {
            let id = format!("{name}_{}", field.name);
            define(&mut out, &format!("{id}_word"), field.word, field.what);
            define(&mut out, &format!("{id}_shift"), field.low, "");
            define(&mut out, &format!("{id}_mask"), format_args!("0x{:x}u", field.max()), "");
        }
    }
    for (group, what, values) in VALUES {
        writeln!(out, "\n/* {what}. */").expect("a string takes all");
        for (name, value) in *values {
            define(&mut out, &format!("{group}_{name}"), format_args!("{value}u"), "");
        }
    }
    out.push_str("\n#endif\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::PRESETS;

    #[test]
    fn every_table_is_in_every_text() {
        for config in PRESETS {
            for text in [to_markdown(&config), to_json(&config), to_c_header(&config).to_lowercase()] {
                for name in REGISTERS.iter().filter(|r| r.exists(&config)).map(|r| r.name) {
                    assert!(text.contains(name), "{name}");
                }
                for name in WINDOWS.iter().map(|w| w.name).chain(COUNTERS.iter().map(|c| c.name)) {
                    assert!(text.contains(name), "{name}");
                }
                for (row, fields, _) in ROWS {
                    assert!(text.contains(row) && fields.iter().all(|f| text.contains(f.name)), "{row}");
                }
            }
        }
    }

    #[test]
    fn presets_differ_where_they_must() {
        let [tengig, cu] = PRESETS.each_ref().map(to_c_header);
        assert!(tengig.contains("VERBENA_REG_GID3_3") && !cu.contains("VERBENA_REG_GID1_0"));
        assert!(PRESETS.iter().all(|config| to_markdown(config) == to_markdown(config)));
    }

    #[test]
    fn c_names_are_distinct() {
        for config in PRESETS {
            let text = to_c_header(&config);
            let mut names: Vec<&str> = text
                .lines()
                .filter_map(|l| l.strip_prefix("#define ")?.split_whitespace().next())
                .collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count);
        }
    }
}
