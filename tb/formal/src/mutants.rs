// SPDX-License-Identifier: MIT OR Apache-2.0
//! The list of mutants: faults of one line in the emitted Verilog, each with the proof or test that must catch it.

/// What must fail.
#[derive(Clone, Copy, Debug)]
pub enum Catcher {
    /// A proof of `proofs::PROOFS`.
    Proof(&'static str),
    /// A test that runs the Verilated engine of that preset.
    Test {
        preset: &'static str,
        package: &'static str,
        target: &'static str,
        name: &'static str,
    },
}

/// A fault.
#[derive(Clone, Copy, Debug)]
pub struct Mutant {
    pub name: &'static str,
    /// What is wrong, in a few words.
    pub fault: &'static str,
    /// Module of the emitted Verilog.
    pub module: &'static str,
    /// Stands once in it, and becomes `put`.
    pub find: &'static str,
    pub put: &'static str,
    pub by: Catcher,
}

const fn proof(
    name: &'static str,
    fault: &'static str,
    module: &'static str,
    find: &'static str,
    put: &'static str,
    by: &'static str,
) -> Mutant {
    Mutant {
        name,
        fault,
        module,
        find,
        put,
        by: Catcher::Proof(by),
    }
}

/// A test of the whole engine.
const fn test(
    name: &'static str,
    fault: &'static str,
    module: &'static str,
    find: &'static str,
    put: &'static str,
    preset: &'static str,
    by: &'static str,
) -> Mutant {
    Mutant {
        name,
        fault,
        module,
        find,
        put,
        by: Catcher::Test {
            preset,
            package: "verbena-sim",
            target: "system",
            name: by,
        },
    }
}

/// All mutants, in the packet's order.
pub const MUTANTS: &[Mutant] = &[
    proof(
        "rx-head-overrun",
        "a head is replaced before it was taken",
        "head_front_2",
        "assign free = !valid | head_next;",
        "assign free = 1'b1;",
        "head_front",
    ),
    proof(
        "rx-host-overrun",
        "the host's FIFO goes on without ready",
        "host_fifo_64_8_3_11_68",
        "!empty & (!out_valid | m_host_ready)",
        "!empty",
        "host_fifo-streams",
    ),
    proof(
        "rx-ring-overrun",
        "ring beats go on without ready",
        "ring_reader_64_2_12_65",
        "assign go = !shown | beat_ready;",
        "assign go = 1'b1;",
        "ring_reader-streams",
    ),
    proof(
        "skid-overrun",
        "accepts a third word",
        "skid_4",
        "assign s_ready = !side_valid;",
        "assign s_ready = 1'b1;",
        "skid",
    ),
    proof(
        "skid-order",
        "the newer word goes first",
        "skid_4",
        "front_d = side;",
        "front_d = s_data;",
        "skid",
    ),
    proof(
        "psn-half",
        "half the PSN circle is a quarter",
        "psn_window",
        "assign earlier = difference[23];",
        "assign earlier = difference[22];",
        "psn_window",
    ),
    proof(
        "psn-read-jump",
        "a READ moves ePSN one too far",
        "psn_window",
        "assign jumped = pivot + psns;",
        "assign jumped = pivot + psns + 24'h000001;",
        "psn_window",
    ),
    proof(
        "psn-duplicate-executed",
        "a duplicate is executed again",
        "decide",
        "execute_kept_d = !bad & !served & (equal | !rc);",
        "execute_kept_d = !bad & !served & (equal | earlier | !rc);",
        "decide",
    ),
    proof(
        "psn-gap-executed",
        "a packet beyond ePSN is executed",
        "decide",
        "execute_kept_d = !bad & !served & (equal | !rc);",
        "execute_kept_d = !bad & !served & (!earlier | !rc);",
        "decide",
    ),
    proof(
        "control-entry-lost",
        "a retire entry isn't held",
        "leave",
        "assign entry_left = entry & !entry_ready;",
        "assign entry_left = 1'b0;",
        "leave",
    ),
    proof(
        "control-event-lost",
        "a counter event isn't held",
        "leave",
        "assign event_left = event_kept & !event_ready;",
        "assign event_left = 1'b0;",
        "leave",
    ),
    proof(
        "keys-end-wraps",
        "the region's end may wrap",
        "keys",
        "KEY_STEP_LENGTH_LOW: failed_d = failed | end_high_add_carry_out;",
        "KEY_STEP_LENGTH_LOW: failed_d = failed;",
        "keys-region",
    ),
    proof(
        "keys-before-region",
        "an address before the region passes",
        "keys",
        "KEY_STEP_VA_HIGH: failed_d = failed | offset_high_add_carry_out;",
        "KEY_STEP_VA_HIGH: failed_d = failed;",
        "keys-region",
    ),
    proof(
        "keys-foreign-pd",
        "the protection domain isn't compared",
        "keys",
        " & (word[31:16] == pd)",
        "",
        "keys-region",
    ),
    proof(
        "keys-dead-region",
        "the valid bit isn't looked at",
        "keys",
        " & word[8] & ",
        " & ",
        "keys-region",
    ),
    proof(
        "keys-torn-row",
        "the host writes a row under a check",
        "keys",
        "assign table_open = !walking & (step == KEY_STEP_IDLE) & !key_start;",
        "assign table_open = !walking;",
        "keys-region",
    ),
    proof(
        "dma-write-room",
        "a burst is issued without room to track it",
        "job_splitter_8_12_12",
        "assign valid = (state == SPLITTER_STATE_ISSUE) & room;",
        "assign valid = state == SPLITTER_STATE_ISSUE;",
        "dma_writer",
    ),
    proof(
        "dma-write-length",
        "AWLEN counts from the block's start",
        "job_splitter_8_12_12",
        "assign aw_length = burst_end - start_position;",
        "assign aw_length = burst_end;",
        "dma_writer",
    ),
    proof(
        "dma-write-page",
        "the host rewrites the page under a waiting AW",
        "dma_writer",
        "assign mtt_mtt_valid = mtt_valid & !splitter_mtt_busy;",
        "assign mtt_mtt_valid = mtt_valid;",
        "dma_writer",
    ),
    proof(
        "dma-write-lookup",
        "the DMA reader's look-up takes the writer's page",
        "mtt_share",
        "assign grant = second_read & !first_busy & !third_asks & !looked & !reset;",
        "assign grant = second_read & !third_asks & !looked & !reset;",
        "dma_writer",
    ),
    proof(
        "dma-read-crossing",
        "a read burst is cut at twice its block",
        "read_splitter_8_12_64",
        "assign more = |(stop & 15'h7e00);",
        "assign more = |(stop & 15'h7c00);",
        "dma_reader",
    ),
    proof(
        "dma-read-early",
        "AR goes out before its page is there",
        "read_splitter_8_12_64",
        "if (mtt_grant) begin\n          state_d = READ_STATE_READY;",
        "if (mtt_grant) begin\n          state_d = READ_STATE_ISSUE;",
        "dma_reader",
    ),
    proof(
        "dma-done-leak",
        "a done is taken that isn't there",
        "done_queue_8",
        "if (some & done_ready) begin",
        "if (done_ready) begin",
        "done_queue",
    ),
    proof(
        "write-order",
        "W of the newer grant goes first",
        "write_arbiter",
        "assign turn = order[0];",
        "assign turn = order[1];",
        "write_arbiter-order",
    ),
    proof(
        "write-grants",
        "more grants than are remembered",
        "write_arbiter",
        "assign open = aw_open & (order_count != DEPTH) & !closed;",
        "assign open = aw_open & !closed;",
        "write_arbiter-order",
    ),
    proof(
        "write-b-swapped",
        "the completions' B goes to the payload",
        "write_arbiter",
        "assign payload_b_valid = m_b_valid & (m_b_id == ID_PAYLOAD) & !reset;",
        "assign payload_b_valid = m_b_valid & (m_b_id != ID_ATOMIC) & !reset;",
        "write_arbiter-order",
    ),
    proof(
        "write-aw-overrun",
        "AW is replaced before it was taken",
        "write_arbiter",
        "assign aw_open = !aw_valid;",
        "assign aw_open = 1'b1;",
        "write_arbiter-streams",
    ),
    proof(
        "read-ar-overrun",
        "AR is replaced before it was taken",
        "read_arbiter_64",
        "assign open = !valid;",
        "assign open = 1'b1;",
        "read_arbiter-streams",
    ),
    proof(
        "fetch-moves",
        "a waiting AR takes the next address",
        "descriptor_reader",
        "if (fetch_start & !asking & !waiting & !done) begin\n      address_d",
        "if (fetch_start & !waiting & !done) begin\n      address_d",
        "descriptor_reader-streams",
    ),
    proof(
        "retire-extra-cqe",
        "an unsignalled entry gets a completion",
        "retire",
        "completion_due_d = head[71];",
        "completion_due_d = 1'b1;",
        "retire",
    ),
    proof(
        "retire-early",
        "an entry retires before its data have landed",
        "retire",
        "assign complete_now = head_valid & !sending & (taken == head[13:12]) &",
        "assign complete_now = head_valid & !sending &",
        "retire",
    ),
    proof(
        "retire-lost-cqe",
        "the next entry begins before the completion is taken",
        "retire",
        " & !completion_due",
        "",
        "retire",
    ),
    proof(
        "retire-nak-passes-ends",
        "a sequence NAK overtakes the end of a message",
        "retire",
        "early_offered_d = early_waits & !(|ends_ahead) &",
        "early_offered_d = early_waits &",
        "retire",
    ),
    proof(
        "retire-nak-twice",
        "a NAK that has overtaken is sent again in its turn",
        "retire",
        "assign answered = early_stands & (early_place == 6'h01);",
        "assign answered = 1'b0;",
        "retire",
    ),
    proof(
        "fifo-overflow",
        "one word more than there is room for",
        "fifo_4_5_244",
        "assign nearly = used == BEFORE_FULL;",
        "assign nearly = used > BEFORE_FULL;",
        "fifo-pointers",
    ),
    proof(
        "fifo-overrun",
        "the output register is overwritten",
        "fifo_4_5_244",
        "assign fetch = some & (!out_valid | m_ready);",
        "assign fetch = some;",
        "fifo-pointers",
    ),
    proof(
        "fifo-underflow",
        "a word is read that isn't there",
        "fifo_4_5_244",
        "assign fetch = some & (!out_valid | m_ready);",
        "assign fetch = !out_valid | m_ready;",
        "fifo-pointers",
    ),
    proof(
        "cqe-last",
        "WLAST a beat early",
        "queue_writer_64_8",
        "assign w_last = index == final_index;",
        "assign w_last = (index | ONE) == (final_index - ONE);",
        "queue_writer",
    ),
    proof(
        "cqe-unaligned",
        "a CQE's base isn't cut to its size",
        "queue_writer_64_8",
        "aw_address = (base & CQE_ALIGNMENT) | offset;",
        "aw_address = base | offset;",
        "queue_writer",
    ),
    proof(
        "axil-b-for-read",
        "a B answers a read",
        "registers",
        "assign s_b_valid = (state == REGISTERS_STATE_ANSWER) & writing;",
        "assign s_b_valid = state == REGISTERS_STATE_ANSWER;",
        "registers",
    ),
    proof(
        "axil-write-half",
        "a write begins without its data",
        "registers",
        "assign write_ready = s_aw_valid & s_w_valid;",
        "assign write_ready = s_aw_valid;",
        "registers",
    ),
    proof(
        "counters-two",
        "two events are taken, one is counted",
        "counters",
        "assign tx_ready = idle & (turn == TX);",
        "assign tx_ready = idle;",
        "counters-access",
    ),
    proof(
        "tx-overrun",
        "payload goes on without ready",
        "payload_fifo_64_10_11",
        "assign pull = !ahead_valid | !valid | m_ready;",
        "assign pull = 1'b1;",
        "payload_fifo-streams",
    ),
    proof(
        "atomic-lock",
        "the ATOMIC reads before the lock is had",
        "atomic_unit",
        "if (locked) begin",
        "if (1'b1) begin",
        "atomic_unit-streams",
    ),
    proof(
        "slot-early",
        "a slot comes back before its packet is done",
        "slots_12",
        "leaves_d = some & !leaves & done[oldest_slot[5:0]];",
        "leaves_d = some & !leaves & (done[oldest_slot[5:0]] | finish);",
        "reorder-slots",
    ),
    proof(
        "slot-old-end",
        "a slot that is taken keeps the end of its last packet",
        "slots_12",
        "finished = (done & ~(64'h0000000000000001 << next_slot[5:0])) | (64'h0000000000000000 << next_slot[5:0]);",
        "finished = done;",
        "reorder-slots",
    ),
    proof(
        "slot-leak",
        "an end that is said while a slot is taken is forgotten",
        "slots_12",
        "finish_d = slot | done_valid;",
        "finish_d = (slot | done_valid) & !take;",
        "reorder-slots",
    ),
    test(
        "key-before-address",
        "a packet inside a message has its key checked before its address is there",
        "sequencer",
        "if (start) begin\n          start_kept_d = 1'b1;",
        "if (1'b1) begin\n          start_kept_d = 1'b1;",
        "tengig",
        "requester::writes_and_sends_of_all_lengths_arrive",
    ),
    test(
        "send-ring-end",
        "a send queue's ring ends an entry late",
        "scheduler_8_9_11_1",
        "assign mask = size - 16'h0001;",
        "assign mask = size;",
        "tengig",
        "requester::writes_and_sends_of_all_lengths_arrive",
    ),
    test(
        "send-store-room",
        "more WQEs are asked for than the store has room for",
        "scheduler_8_9_11_1",
        "assign room = !(flying[1] | stored[1] | (flying[0] & stored[0]));",
        "assign room = 1'b1;",
        "tengig",
        "requester::writes_and_sends_of_all_lengths_arrive",
    ),
    test(
        "complete-never-alone",
        "selective repeat sends on from the packet that is missing",
        "complete_steps",
        "COMPLETE_STATE_REPEAT: alone_d = !same & !behind;",
        "COMPLETE_STATE_REPEAT: alone_d = 1'b0;",
        "tengig",
        "loss::r42_the_engine_repeats_selectively",
    ),
    test(
        "complete-endless",
        "a timeout costs no retry",
        "complete_steps",
        "retries_d = retries + 3'h1;",
        "retries_d = retries;",
        "tengig",
        "lives::r48_r65_a_far_engine_killed_in_a_write",
    ),
    test(
        "complete-no-rewind",
        "a NAK's packet isn't sent again",
        "complete_steps",
        "COMPLETE_STATE_REPEAT: rewinding_d = !same;",
        "COMPLETE_STATE_REPEAT: rewinding_d = 1'b0;",
        "tengig",
        "loss::r42_the_engine_repeats_selectively",
    ),
    test(
        "timers-short-round",
        "the scan forgets what began behind it",
        "timers_8_9_10",
        "found = highest;",
        "found = 8'h00;",
        "tengig",
        "requester::what_the_wire_loses_is_sent_again",
    ),
    test(
        "notification-without-end",
        "each mark is answered, whatever the interval",
        "notification_point_8",
        "assign quiet = counts & (|left) & !left[9];",
        "assign quiet = 1'b0;",
        "tengig",
        "congestion::r13_r76_at_most_one_cnp_a_flow_in_50_us",
    ),
    test(
        "notification-as-ack",
        "a CNP leaves as an ACK",
        "notification_point_8",
        "m_ack[68] = 1'b1;",
        "m_ack[68] = 1'b0;",
        "tengig",
        "congestion::r13_r76_at_most_one_cnp_a_flow_in_50_us",
    ),
    test(
        "reaction-without-rest",
        "a slowed QP's packets wait for nothing",
        "limiter",
        "assign is_free = !active | !counts | free_left[20] | !(|free_left);",
        "assign is_free = 1'b1;",
        "tengig",
        "congestion::r76_a_cnp_slows_the_engines_requests",
    ),
    test(
        "reaction-keeps-tokens",
        "a slowed QP's token doesn't rest",
        "scheduler_8_9_11_1",
        "SCHEDULER_WORK_END: queued_d = limited;",
        "SCHEDULER_WORK_END: queued_d = 1'b0;",
        "tengig",
        "congestion::r76_a_cnp_slows_the_engines_requests",
    ),
    test(
        "cnp-untold",
        "a CNP isn't told",
        "control_8_12_11_12",
        "assign noticed = notice_passed & sequencer_head_next;",
        "assign noticed = 1'b0;",
        "tengig",
        "congestion::r76_a_cnp_slows_the_engines_requests",
    ),
    test(
        "cu-field",
        "a field keeps its neighbour's bits",
        "lane_unit",
        "assign x = moved & keep_mask;",
        "assign x = moved;",
        "cu",
        "scenarios::scenario_1_r9_r49_r50_lengths_and_pads",
    ),
    test(
        "cu-carry",
        "the core's adder loses its carry",
        "alu",
        "assign right = ({2'h0, b} << 1) | {33'h000000000, carry_in};",
        "assign right = {2'h0, b} << 1;",
        "cu",
        "scenarios::scenario_1_r9_r49_r50_lengths_and_pads",
    ),
    test(
        "cu-burst",
        "a burst is a beat short",
        "bursts",
        "closing_d = !(|left);",
        "closing_d = !(|left[3:1]);",
        "cu",
        "scenarios::scenario_1_r9_r49_r50_lengths_and_pads",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Designs;
    use crate::mutation;
    use crate::run;
    use std::collections::BTreeSet;

    #[test]
    fn every_mutant_can_be_made_and_has_a_name_of_its_own() {
        let mut designs = Designs::default();
        let mut names = BTreeSet::new();
        let mut wrong: Vec<String> = vec![];
        for mutant in MUTANTS {
            assert!(names.insert(mutant.name), "{} twice", mutant.name);
            assert_ne!(mutant.find, mutant.put, "{}", mutant.name);
            match mutant.by {
                Catcher::Proof(name) => {
                    let proof = mutation::proof(name).unwrap();
                    let made = run::text(proof, &mut designs, &|d| run::edit(d, mutant.module, mutant.find, mutant.put));
                    wrong.extend(made.err().map(|e| format!("{}: {e:#}", mutant.name)));
                }
                Catcher::Test { preset, .. } => {
                    let mut design = designs.station(preset, "whole").unwrap().clone();
                    let made = run::edit(&mut design, mutant.module, mutant.find, mutant.put);
                    wrong.extend(made.err().map(|e| format!("{}: {e:#}", mutant.name)));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
        assert!(MUTANTS.len() >= 25);
    }
}
