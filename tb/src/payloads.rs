// SPDX-License-Identifier: MIT OR Apache-2.0
//! The structs that stations hand to each other, as bits of a port.

use crate::mirror::{Packer, ToWords};
use crate::words_of;
use rust_hdl::prelude::Synth;
use verbena_hdl::host::{CompletionJob, EventJob};
use verbena_hdl::mem::{ReadJob, WriteJob};
use verbena_hdl::requester::TimerOperation;
use verbena_hdl::responder::RetireEntry;
use verbena_hdl::rx::PacketHead;
use verbena_hdl::tx::AckJob;

words_of!(RetireEntry {
    qp_index,
    jobs,
    respond,
    syndrome,
    psn,
    msn,
    complete,
    cq,
    qpn,
    completion_opcode,
    status,
    with_imm,
    with_invalidate,
    grh,
    solicited,
    wqe_index,
    byte_length,
    immediate,
    source_qpn,
    event,
    event_type,
    requester,
    serve,
    partial
});
words_of!(WriteJob {
    write,
    paged,
    address,
    length,
    ring_beat,
    ring_offset,
    release,
    end_beat,
    swap
});
words_of!(ReadJob {
    paged,
    address,
    length,
    last
});
words_of!(AckJob {
    qp_index,
    syndrome,
    psn,
    msn,
    notification
});
words_of!(PacketHead {
    opcode,
    solicited,
    ack_request,
    pad_count,
    pkey,
    qpn,
    psn,
    xth0,
    xth1,
    xth2,
    xth3,
    xth4,
    xth5,
    xth6,
    source_ip0,
    source_ip1,
    source_ip2,
    source_ip3,
    ipv6,
    gid_index,
    payload_length,
    payload_beat,
    payload_offset,
    frame_beat,
    end_beat,
    marked
});
words_of!(CompletionJob {
    cq,
    solicited,
    word0,
    word1,
    word2,
    word3,
    word4
});
words_of!(EventJob {
    event_type,
    number,
    detail
});

impl ToWords for TimerOperation {
    fn to_words(&self, packer: &mut Packer) {
        packer.push(*self as u32, Self::BITS);
    }
}
