// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connection management messages as values, and their bytes.

use crate::layout::{dreq, header, mra, path, rej, rep, req, rtu, sidr_rep, sidr_req, Field, HEADER_BYTES, MAD_BYTES};
use thiserror::Error;

/// 128 bits of address.
pub type Gid = [u8; 16];

/// Base version, class, class version and method of all of them.
const BASE_VERSION: u64 = 1;
const CLASS: u64 = 7;
const CLASS_VERSION: u64 = 2;
const SEND: u64 = 3;

/// Why a MAD isn't one of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ParseError {
    #[error("{0} bytes, a MAD has 256")]
    Length(usize),
    #[error("base version {0}, want 1")]
    BaseVersion(u8),
    #[error("class {class} version {version}, connection management is class 7 version 2")]
    Class { class: u8, version: u8 },
    #[error("method {0}, want 3 (Send)")]
    Method(u8),
    #[error("attribute {0:#06x} isn't known")]
    Attribute(u16),
}

/// What a REJ or MRA is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum About {
    #[default]
    Req = 0,
    Rep = 1,
    /// None of them, or for a REJ: a message that never came.
    Other = 2,
    /// Reserved.
    Three = 3,
}

impl About {
    fn from_code(code: u64) -> About {
        match code {
            0 => About::Req,
            1 => About::Rep,
            2 => About::Other,
            _ => About::Three,
        }
    }
}

/// Why a connection was refused (12.6.7.2); the number is the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reason(pub u16);

impl Reason {
    pub const NO_RESOURCES: Reason = Reason(3);
    pub const TIMEOUT: Reason = Reason(4);
    pub const UNSUPPORTED: Reason = Reason(5);
    pub const INVALID_COMMUNICATION_ID: Reason = Reason(6);
    pub const INVALID_SERVICE_ID: Reason = Reason(8);
    pub const INVALID_TRANSPORT: Reason = Reason(9);
    pub const STALE: Reason = Reason(10);
    pub const CONSUMER: Reason = Reason(28);
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let name = match *self {
            Reason::NO_RESOURCES => "no resources",
            Reason::TIMEOUT => "timeout",
            Reason::UNSUPPORTED => "unsupported request",
            Reason::INVALID_COMMUNICATION_ID => "invalid communication ID",
            Reason::INVALID_SERVICE_ID => "nobody listens at that port",
            Reason::INVALID_TRANSPORT => "invalid transport service type",
            Reason::STALE => "stale connection",
            Reason::CONSUMER => "refused by the program",
            Reason(code) => return write!(f, "reason {code}"),
        };
        write!(f, "{name}")
    }
}

/// One of a REQ's two ways to the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Path {
    pub local_lid: u16,
    pub remote_lid: u16,
    pub local_gid: Gid,
    pub remote_gid: Gid,
    pub flow_label: u32,
    pub packet_rate: u8,
    pub traffic_class: u8,
    pub hop_limit: u8,
    pub service_level: u8,
    pub subnet_local: bool,
    /// 4.096 us times 2 to this.
    pub ack_timeout: u8,
}

/// Request for communication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Req {
    pub local_id: u32,
    pub service: u64,
    pub local_ca_guid: u64,
    pub local_qkey: u32,
    pub local_qpn: u32,
    /// READs and ATOMICs that the sender serves at a time.
    pub responder_resources: u8,
    pub local_eecn: u32,
    /// READs and ATOMICs that the sender may have outstanding.
    pub initiator_depth: u8,
    pub remote_eecn: u32,
    pub remote_response_timeout: u8,
    /// 0 RC, 1 UC.
    pub transport: u8,
    pub flow_control: bool,
    /// First PSN that the *receiver of this message* sends.
    pub starting_psn: u32,
    pub local_response_timeout: u8,
    pub retry_count: u8,
    pub pkey: u16,
    /// 1 for 256 to 5 for 4096.
    pub path_mtu: u8,
    pub rdc_exists: bool,
    pub rnr_retry: u8,
    pub max_cm_retries: u8,
    pub srq: bool,
    pub extended_transport: u8,
    pub primary: Path,
    /// All zero: none.
    pub alternate: Path,
    pub private: [u8; 92],
}

/// Reply to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rep {
    pub local_id: u32,
    pub remote_id: u32,
    pub local_qkey: u32,
    pub local_qpn: u32,
    pub local_eecn: u32,
    /// First PSN that the *receiver of this message* sends.
    pub starting_psn: u32,
    pub responder_resources: u8,
    pub initiator_depth: u8,
    pub target_ack_delay: u8,
    pub failover: u8,
    pub flow_control: bool,
    pub rnr_retry: u8,
    pub srq: bool,
    pub local_ca_guid: u64,
    pub private: [u8; 196],
}

/// Reject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rej {
    /// 0 where the sender has none.
    pub local_id: u32,
    pub remote_id: u32,
    pub about: About,
    pub reason: Reason,
    /// Additional information: its length, 0 to 72, and bytes.
    pub info_length: u8,
    pub info: [u8; 72],
    pub private: [u8; 148],
}

impl Rej {
    /// Without information or private data.
    pub fn new(local_id: u32, remote_id: u32, about: About, reason: Reason) -> Rej {
        Rej {
            local_id,
            remote_id,
            about,
            reason,
            info_length: 0,
            info: [0; 72],
            private: [0; 148],
        }
    }
}

/// Message receipt acknowledged: the answer takes longer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mra {
    pub local_id: u32,
    pub remote_id: u32,
    pub about: About,
    /// 4.096 us times 2 to this.
    pub service_timeout: u8,
    pub private: [u8; 222],
}

/// Ready to use, or reply to a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rtu {
    pub local_id: u32,
    pub remote_id: u32,
    pub private: [u8; 224],
}

/// Request for release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dreq {
    pub local_id: u32,
    pub remote_id: u32,
    /// The receiver's QPN.
    pub remote_qpn: u32,
    pub private: [u8; 220],
}

/// Service ID resolution request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SidrReq {
    pub request_id: u32,
    pub pkey: u16,
    pub service: u64,
    pub private: [u8; 216],
}

/// Service ID resolution response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SidrRep {
    pub request_id: u32,
    /// 0 found, 1 service ID not supported.
    pub status: u8,
    pub info_length: u8,
    pub qpn: u32,
    pub service: u64,
    pub qkey: u32,
    pub info: [u8; 72],
    pub private: [u8; 136],
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    Req(Box<Req>),
    Mra(Box<Mra>),
    Rej(Box<Rej>),
    Rep(Box<Rep>),
    Rtu(Box<Rtu>),
    Dreq(Box<Dreq>),
    Drep(Box<Rtu>),
    SidrReq(Box<SidrReq>),
    SidrRep(Box<SidrRep>),
}

/// A message and its transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mad {
    pub transaction: u64,
    pub message: Message,
}

impl Message {
    /// Its name in the specification.
    pub fn name(&self) -> &'static str {
        match self {
            Message::Req(_) => "REQ",
            Message::Mra(_) => "MRA",
            Message::Rej(_) => "REJ",
            Message::Rep(_) => "REP",
            Message::Rtu(_) => "RTU",
            Message::Dreq(_) => "DREQ",
            Message::Drep(_) => "DREP",
            Message::SidrReq(_) => "SIDR_REQ",
            Message::SidrRep(_) => "SIDR_REP",
        }
    }

    fn attribute(&self) -> u64 {
        match self {
            Message::Req(_) => 0x10,
            Message::Mra(_) => 0x11,
            Message::Rej(_) => 0x12,
            Message::Rep(_) => 0x13,
            Message::Rtu(_) => 0x14,
            Message::Dreq(_) => 0x15,
            Message::Drep(_) => 0x16,
            Message::SidrReq(_) => 0x17,
            Message::SidrRep(_) => 0x18,
        }
    }
}

/// Reads fields as numbers of any width.
struct Get<'a>(&'a [u8]);

impl Get<'_> {
    fn flag(&self, field: Field) -> bool {
        field.get(self.0) == 1
    }
    fn u8(&self, field: Field) -> u8 {
        field.get(self.0) as u8
    }
    fn u16(&self, field: Field) -> u16 {
        field.get(self.0) as u16
    }
    fn u32(&self, field: Field) -> u32 {
        field.get(self.0) as u32
    }
    fn bytes<const N: usize>(&self, field: Field) -> [u8; N] {
        let mut bytes = [0; N];
        bytes.iter_mut().zip(field.bytes(self.0)).for_each(|(to, from)| *to = *from);
        bytes
    }
    fn path(&self, group: Field) -> Path {
        let part = Get(group.bytes(self.0));
        Path {
            local_lid: part.u16(path::LOCAL_LID),
            remote_lid: part.u16(path::REMOTE_LID),
            local_gid: part.bytes(path::LOCAL_GID),
            remote_gid: part.bytes(path::REMOTE_GID),
            flow_label: part.u32(path::FLOW_LABEL),
            packet_rate: part.u8(path::PACKET_RATE),
            traffic_class: part.u8(path::TRAFFIC_CLASS),
            hop_limit: part.u8(path::HOP_LIMIT),
            service_level: part.u8(path::SERVICE_LEVEL),
            subnet_local: part.flag(path::SUBNET_LOCAL),
            ack_timeout: part.u8(path::ACK_TIMEOUT),
        }
    }
}

fn put_path(data: &mut [u8], group: Field, p: &Path) {
    let base = group.bit / 8;
    path::LOCAL_GID.at(base).put(data, &p.local_gid);
    path::REMOTE_GID.at(base).put(data, &p.remote_gid);
    for (field, value) in [
        (path::LOCAL_LID, u64::from(p.local_lid)),
        (path::REMOTE_LID, p.remote_lid.into()),
        (path::FLOW_LABEL, p.flow_label.into()),
        (path::PACKET_RATE, p.packet_rate.into()),
        (path::TRAFFIC_CLASS, p.traffic_class.into()),
        (path::HOP_LIMIT, p.hop_limit.into()),
        (path::SERVICE_LEVEL, p.service_level.into()),
        (path::SUBNET_LOCAL, p.subnet_local.into()),
        (path::ACK_TIMEOUT, p.ack_timeout.into()),
    ] {
        field.at(base).set(data, value);
    }
}

fn put(data: &mut [u8], values: &[(Field, u64)]) {
    values.iter().for_each(|(field, value)| field.set(data, *value));
}

impl Mad {
    /// Takes a MAD apart. Reserved bits are ignored.
    pub fn parse(bytes: &[u8]) -> Result<Mad, ParseError> {
        if bytes.len() != MAD_BYTES {
            return Err(ParseError::Length(bytes.len()));
        }
        let head = Get(bytes);
        if head.u8(header::BASE_VERSION) as u64 != BASE_VERSION {
            return Err(ParseError::BaseVersion(head.u8(header::BASE_VERSION)));
        }
        let (class, version) = (head.u8(header::CLASS), head.u8(header::CLASS_VERSION));
        if (class.into(), version.into()) != (CLASS, CLASS_VERSION) {
            return Err(ParseError::Class { class, version });
        }
        if head.u8(header::METHOD) as u64 != SEND {
            return Err(ParseError::Method(head.u8(header::METHOD)));
        }
        Ok(Mad {
            transaction: header::TRANSACTION.get(bytes),
            message: message(head.u16(header::ATTRIBUTE), &bytes[HEADER_BYTES..])?,
        })
    }

    /// Its 256 bytes.
    pub fn to_bytes(&self) -> [u8; MAD_BYTES] {
        let mut bytes = [0; MAD_BYTES];
        let values = [
            (header::BASE_VERSION, BASE_VERSION),
            (header::CLASS, CLASS),
            (header::CLASS_VERSION, CLASS_VERSION),
            (header::METHOD, SEND),
            (header::TRANSACTION, self.transaction),
            (header::ATTRIBUTE, self.message.attribute()),
        ];
        put(&mut bytes, &values);
        write(&self.message, &mut bytes[HEADER_BYTES..]);
        bytes
    }
}

fn message(attribute: u16, data: &[u8]) -> Result<Message, ParseError> {
    let d = Get(data);
    let ready = || {
        Box::new(Rtu {
            local_id: d.u32(rtu::LOCAL_ID),
            remote_id: d.u32(rtu::REMOTE_ID),
            private: d.bytes(rtu::PRIVATE),
        })
    };
    Ok(match attribute {
        0x10 => Message::Req(Box::new(Req {
            local_id: d.u32(req::LOCAL_ID),
            service: req::SERVICE.get(data),
            local_ca_guid: req::LOCAL_CA_GUID.get(data),
            local_qkey: d.u32(req::LOCAL_QKEY),
            local_qpn: d.u32(req::LOCAL_QPN),
            responder_resources: d.u8(req::RESPONDER_RESOURCES),
            local_eecn: d.u32(req::LOCAL_EECN),
            initiator_depth: d.u8(req::INITIATOR_DEPTH),
            remote_eecn: d.u32(req::REMOTE_EECN),
            remote_response_timeout: d.u8(req::REMOTE_RESPONSE_TIMEOUT),
            transport: d.u8(req::TRANSPORT),
            flow_control: d.flag(req::FLOW_CONTROL),
            starting_psn: d.u32(req::STARTING_PSN),
            local_response_timeout: d.u8(req::LOCAL_RESPONSE_TIMEOUT),
            retry_count: d.u8(req::RETRY_COUNT),
            pkey: d.u16(req::PKEY),
            path_mtu: d.u8(req::PATH_MTU),
            rdc_exists: d.flag(req::RDC_EXISTS),
            rnr_retry: d.u8(req::RNR_RETRY),
            max_cm_retries: d.u8(req::MAX_CM_RETRIES),
            srq: d.flag(req::SRQ),
            extended_transport: d.u8(req::EXTENDED_TRANSPORT),
            primary: d.path(req::PRIMARY),
            alternate: d.path(req::ALTERNATE),
            private: d.bytes(req::PRIVATE),
        })),
        0x11 => Message::Mra(Box::new(Mra {
            local_id: d.u32(mra::LOCAL_ID),
            remote_id: d.u32(mra::REMOTE_ID),
            about: About::from_code(mra::MESSAGE.get(data)),
            service_timeout: d.u8(mra::SERVICE_TIMEOUT),
            private: d.bytes(mra::PRIVATE),
        })),
        0x12 => Message::Rej(Box::new(Rej {
            local_id: d.u32(rej::LOCAL_ID),
            remote_id: d.u32(rej::REMOTE_ID),
            about: About::from_code(rej::MESSAGE.get(data)),
            reason: Reason(d.u16(rej::REASON)),
            info_length: d.u8(rej::INFO_LENGTH),
            info: d.bytes(rej::INFO),
            private: d.bytes(rej::PRIVATE),
        })),
        0x13 => Message::Rep(Box::new(Rep {
            local_id: d.u32(rep::LOCAL_ID),
            remote_id: d.u32(rep::REMOTE_ID),
            local_qkey: d.u32(rep::LOCAL_QKEY),
            local_qpn: d.u32(rep::LOCAL_QPN),
            local_eecn: d.u32(rep::LOCAL_EECN),
            starting_psn: d.u32(rep::STARTING_PSN),
            responder_resources: d.u8(rep::RESPONDER_RESOURCES),
            initiator_depth: d.u8(rep::INITIATOR_DEPTH),
            target_ack_delay: d.u8(rep::TARGET_ACK_DELAY),
            failover: d.u8(rep::FAILOVER),
            flow_control: d.flag(rep::FLOW_CONTROL),
            rnr_retry: d.u8(rep::RNR_RETRY),
            srq: d.flag(rep::SRQ),
            local_ca_guid: rep::LOCAL_CA_GUID.get(data),
            private: d.bytes(rep::PRIVATE),
        })),
        0x14 => Message::Rtu(ready()),
        0x15 => Message::Dreq(Box::new(Dreq {
            local_id: d.u32(dreq::LOCAL_ID),
            remote_id: d.u32(dreq::REMOTE_ID),
            remote_qpn: d.u32(dreq::REMOTE_QPN),
            private: d.bytes(dreq::PRIVATE),
        })),
        0x16 => Message::Drep(ready()),
        0x17 => Message::SidrReq(Box::new(SidrReq {
            request_id: d.u32(sidr_req::REQUEST_ID),
            pkey: d.u16(sidr_req::PKEY),
            service: sidr_req::SERVICE.get(data),
            private: d.bytes(sidr_req::PRIVATE),
        })),
        0x18 => Message::SidrRep(Box::new(SidrRep {
            request_id: d.u32(sidr_rep::REQUEST_ID),
            status: d.u8(sidr_rep::STATUS),
            info_length: d.u8(sidr_rep::INFO_LENGTH),
            qpn: d.u32(sidr_rep::QPN),
            service: sidr_rep::SERVICE.get(data),
            qkey: d.u32(sidr_rep::QKEY),
            info: d.bytes(sidr_rep::INFO),
            private: d.bytes(sidr_rep::PRIVATE),
        })),
        other => return Err(ParseError::Attribute(other)),
    })
}

fn write(message: &Message, data: &mut [u8]) {
    match message {
        Message::Req(m) => {
            let values = [
                (req::LOCAL_ID, u64::from(m.local_id)),
                (req::SERVICE, m.service),
                (req::LOCAL_CA_GUID, m.local_ca_guid),
                (req::LOCAL_QKEY, m.local_qkey.into()),
                (req::LOCAL_QPN, m.local_qpn.into()),
                (req::RESPONDER_RESOURCES, m.responder_resources.into()),
                (req::LOCAL_EECN, m.local_eecn.into()),
                (req::INITIATOR_DEPTH, m.initiator_depth.into()),
                (req::REMOTE_EECN, m.remote_eecn.into()),
                (req::REMOTE_RESPONSE_TIMEOUT, m.remote_response_timeout.into()),
                (req::TRANSPORT, m.transport.into()),
                (req::FLOW_CONTROL, m.flow_control.into()),
                (req::STARTING_PSN, m.starting_psn.into()),
                (req::LOCAL_RESPONSE_TIMEOUT, m.local_response_timeout.into()),
                (req::RETRY_COUNT, m.retry_count.into()),
                (req::PKEY, m.pkey.into()),
                (req::PATH_MTU, m.path_mtu.into()),
                (req::RDC_EXISTS, m.rdc_exists.into()),
                (req::RNR_RETRY, m.rnr_retry.into()),
                (req::MAX_CM_RETRIES, m.max_cm_retries.into()),
                (req::SRQ, m.srq.into()),
                (req::EXTENDED_TRANSPORT, m.extended_transport.into()),
            ];
            put(data, &values);
            put_path(data, req::PRIMARY, &m.primary);
            put_path(data, req::ALTERNATE, &m.alternate);
            req::PRIVATE.put(data, &m.private);
        }
        Message::Mra(m) => {
            let values = [
                (mra::LOCAL_ID, u64::from(m.local_id)),
                (mra::REMOTE_ID, m.remote_id.into()),
                (mra::MESSAGE, m.about as u64),
                (mra::SERVICE_TIMEOUT, m.service_timeout.into()),
            ];
            put(data, &values);
            mra::PRIVATE.put(data, &m.private);
        }
        Message::Rej(m) => {
            let values = [
                (rej::LOCAL_ID, u64::from(m.local_id)),
                (rej::REMOTE_ID, m.remote_id.into()),
                (rej::MESSAGE, m.about as u64),
                (rej::INFO_LENGTH, m.info_length.into()),
                (rej::REASON, m.reason.0.into()),
            ];
            put(data, &values);
            rej::INFO.put(data, &m.info);
            rej::PRIVATE.put(data, &m.private);
        }
        Message::Rep(m) => {
            let values = [
                (rep::LOCAL_ID, u64::from(m.local_id)),
                (rep::REMOTE_ID, m.remote_id.into()),
                (rep::LOCAL_QKEY, m.local_qkey.into()),
                (rep::LOCAL_QPN, m.local_qpn.into()),
                (rep::LOCAL_EECN, m.local_eecn.into()),
                (rep::STARTING_PSN, m.starting_psn.into()),
                (rep::RESPONDER_RESOURCES, m.responder_resources.into()),
                (rep::INITIATOR_DEPTH, m.initiator_depth.into()),
                (rep::TARGET_ACK_DELAY, m.target_ack_delay.into()),
                (rep::FAILOVER, m.failover.into()),
                (rep::FLOW_CONTROL, m.flow_control.into()),
                (rep::RNR_RETRY, m.rnr_retry.into()),
                (rep::SRQ, m.srq.into()),
                (rep::LOCAL_CA_GUID, m.local_ca_guid),
            ];
            put(data, &values);
            rep::PRIVATE.put(data, &m.private);
        }
        Message::Rtu(m) | Message::Drep(m) => {
            put(data, &[(rtu::LOCAL_ID, m.local_id.into()), (rtu::REMOTE_ID, m.remote_id.into())]);
            rtu::PRIVATE.put(data, &m.private);
        }
        Message::Dreq(m) => {
            let values = [
                (dreq::LOCAL_ID, u64::from(m.local_id)),
                (dreq::REMOTE_ID, m.remote_id.into()),
                (dreq::REMOTE_QPN, m.remote_qpn.into()),
            ];
            put(data, &values);
            dreq::PRIVATE.put(data, &m.private);
        }
        Message::SidrReq(m) => {
            let values = [
                (sidr_req::REQUEST_ID, u64::from(m.request_id)),
                (sidr_req::PKEY, m.pkey.into()),
                (sidr_req::SERVICE, m.service),
            ];
            put(data, &values);
            sidr_req::PRIVATE.put(data, &m.private);
        }
        Message::SidrRep(m) => {
            let values = [
                (sidr_rep::REQUEST_ID, u64::from(m.request_id)),
                (sidr_rep::STATUS, m.status.into()),
                (sidr_rep::INFO_LENGTH, m.info_length.into()),
                (sidr_rep::QPN, m.qpn.into()),
                (sidr_rep::SERVICE, m.service),
                (sidr_rep::QKEY, m.qkey.into()),
            ];
            put(data, &values);
            sidr_rep::INFO.put(data, &m.info);
            sidr_rep::PRIVATE.put(data, &m.private);
        }
    }
}
