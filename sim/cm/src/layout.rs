// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the fields of connection management messages stand (IBTA volume 1, 12.6), as tables.
//!
//! A MAD is 24 bytes of header and 232 of data; the messages' bits count from the data's first, most significant first.

/// Bytes of a MAD.
pub const MAD_BYTES: usize = 256;
/// Bytes of its header.
pub const HEADER_BYTES: usize = 24;

/// A run of bits; those of more than 64 are taken as bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    pub name: &'static str,
    /// First bit, 0 is the most significant one of byte 0.
    pub bit: usize,
    pub bits: usize,
}

impl Field {
    /// The same field in a group that begins `bytes` later.
    pub const fn at(self, bytes: usize) -> Field {
        Field {
            bit: self.bit + 8 * bytes,
            ..self
        }
    }

    /// Its value in `bytes`; of 64 bits at most.
    pub fn get(&self, bytes: &[u8]) -> u64 {
        (self.bit..self.bit + self.bits).fold(0, |value, bit| {
            let byte = bytes.get(bit / 8).copied().unwrap_or(0);
            value << 1 | u64::from(byte >> (7 - bit % 8) & 1)
        })
    }

    /// Puts the lowest bits of `value` there.
    pub fn set(&self, bytes: &mut [u8], value: u64) {
        for (n, bit) in (self.bit..self.bit + self.bits).rev().enumerate() {
            let mask = 1 << (7 - bit % 8);
            if let Some(byte) = bytes.get_mut(bit / 8) {
                *byte = *byte & !mask | if value >> n & 1 == 1 { mask } else { 0 };
            }
        }
    }

    /// Its bytes; the field begins and ends at one.
    pub fn bytes<'a>(&self, data: &'a [u8]) -> &'a [u8] {
        data.get(self.bit / 8..(self.bit + self.bits) / 8).unwrap_or(&[])
    }

    /// Copies `value` there, cut or left as it was where lengths differ.
    pub fn put(&self, data: &mut [u8], value: &[u8]) {
        if let Some(place) = data.get_mut(self.bit / 8..(self.bit + self.bits) / 8) {
            place.iter_mut().zip(value).for_each(|(to, from)| *to = *from);
        }
    }
}

macro_rules! table {
    ($(#[$doc:meta])* $module:ident { $($name:ident: $bit:expr, $bits:expr;)* }) => {
        $(#[$doc])*
        pub mod $module {
            use super::Field;
            $(pub const $name: Field = Field { name: stringify!($name), bit: $bit, bits: $bits };)*
            /// All of them, in order.
            pub const FIELDS: &[Field] = &[$($name),*];
        }
    };
}

table! {
    /// The MAD's own header (13.4.2).
    header {
        BASE_VERSION: 0, 8;
        CLASS: 8, 8;
        CLASS_VERSION: 16, 8;
        METHOD: 24, 8;
        STATUS: 32, 16;
        CLASS_SPECIFIC: 48, 16;
        TRANSACTION: 64, 64;
        ATTRIBUTE: 128, 16;
        RESERVED_18: 144, 16;
        MODIFIER: 160, 32;
    }
}

table! {
    /// Request for communication (12.6.5). The paths are [`path`].
    req {
        LOCAL_ID: 0, 32;
        RESERVED_4: 32, 32;
        SERVICE: 64, 64;
        LOCAL_CA_GUID: 128, 64;
        RESERVED_24: 192, 32;
        LOCAL_QKEY: 224, 32;
        LOCAL_QPN: 256, 24;
        RESPONDER_RESOURCES: 280, 8;
        LOCAL_EECN: 288, 24;
        INITIATOR_DEPTH: 312, 8;
        REMOTE_EECN: 320, 24;
        REMOTE_RESPONSE_TIMEOUT: 344, 5;
        TRANSPORT: 349, 2;
        FLOW_CONTROL: 351, 1;
        STARTING_PSN: 352, 24;
        LOCAL_RESPONSE_TIMEOUT: 376, 5;
        RETRY_COUNT: 381, 3;
        PKEY: 384, 16;
        PATH_MTU: 400, 4;
        RDC_EXISTS: 404, 1;
        RNR_RETRY: 405, 3;
        MAX_CM_RETRIES: 408, 4;
        SRQ: 412, 1;
        EXTENDED_TRANSPORT: 413, 3;
        PRIMARY: 416, 352;
        ALTERNATE: 768, 352;
        PRIVATE: 1120, 736;
    }
}

table! {
    /// A path in a REQ: 44 bytes.
    path {
        LOCAL_LID: 0, 16;
        REMOTE_LID: 16, 16;
        LOCAL_GID: 32, 128;
        REMOTE_GID: 160, 128;
        FLOW_LABEL: 288, 20;
        RESERVED_38: 308, 6;
        PACKET_RATE: 314, 6;
        TRAFFIC_CLASS: 320, 8;
        HOP_LIMIT: 328, 8;
        SERVICE_LEVEL: 336, 4;
        SUBNET_LOCAL: 340, 1;
        RESERVED_42: 341, 3;
        ACK_TIMEOUT: 344, 5;
        RESERVED_43: 349, 3;
    }
}

table! {
    /// Message receipt acknowledged (12.6.6).
    mra {
        LOCAL_ID: 0, 32;
        REMOTE_ID: 32, 32;
        MESSAGE: 64, 2;
        RESERVED_8: 66, 6;
        SERVICE_TIMEOUT: 72, 5;
        RESERVED_9: 77, 3;
        PRIVATE: 80, 1776;
    }
}

table! {
    /// Reject (12.6.7).
    rej {
        LOCAL_ID: 0, 32;
        REMOTE_ID: 32, 32;
        MESSAGE: 64, 2;
        RESERVED_8: 66, 6;
        INFO_LENGTH: 72, 7;
        RESERVED_9: 79, 1;
        REASON: 80, 16;
        INFO: 96, 576;
        PRIVATE: 672, 1184;
    }
}

table! {
    /// Reply to a request (12.6.8).
    rep {
        LOCAL_ID: 0, 32;
        REMOTE_ID: 32, 32;
        LOCAL_QKEY: 64, 32;
        LOCAL_QPN: 96, 24;
        RESERVED_15: 120, 8;
        LOCAL_EECN: 128, 24;
        RESERVED_19: 152, 8;
        STARTING_PSN: 160, 24;
        RESERVED_23: 184, 8;
        RESPONDER_RESOURCES: 192, 8;
        INITIATOR_DEPTH: 200, 8;
        TARGET_ACK_DELAY: 208, 5;
        FAILOVER: 213, 2;
        FLOW_CONTROL: 215, 1;
        RNR_RETRY: 216, 3;
        SRQ: 219, 1;
        RESERVED_27: 220, 4;
        LOCAL_CA_GUID: 224, 64;
        PRIVATE: 288, 1568;
    }
}

table! {
    /// Ready to use (12.6.9), and reply to a request for release (12.6.11): the same shape.
    rtu {
        LOCAL_ID: 0, 32;
        REMOTE_ID: 32, 32;
        PRIVATE: 64, 1792;
    }
}

table! {
    /// Request for communication release (12.6.10).
    dreq {
        LOCAL_ID: 0, 32;
        REMOTE_ID: 32, 32;
        REMOTE_QPN: 64, 24;
        RESERVED_11: 88, 8;
        PRIVATE: 96, 1760;
    }
}

table! {
    /// Service ID resolution request (12.11.1): how a UD QP is found.
    sidr_req {
        REQUEST_ID: 0, 32;
        PKEY: 32, 16;
        RESERVED_6: 48, 16;
        SERVICE: 64, 64;
        PRIVATE: 128, 1728;
    }
}

table! {
    /// Service ID resolution response (12.11.2).
    sidr_rep {
        REQUEST_ID: 0, 32;
        STATUS: 32, 8;
        INFO_LENGTH: 40, 8;
        RESERVED_6: 48, 16;
        QPN: 64, 24;
        RESERVED_11: 88, 8;
        SERVICE: 96, 64;
        QKEY: 160, 32;
        INFO: 192, 576;
        PRIVATE: 768, 1088;
    }
}

table! {
    /// What RDMA CM puts first into a REQ's private data: addresses and the port that it connects from.
    addresses {
        VERSION: 0, 8;
        IP_VERSION: 8, 4;
        RESERVED_1: 12, 4;
        PORT: 16, 16;
        SOURCE: 32, 128;
        DESTINATION: 160, 128;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No bit in two fields, none without one.
    #[test]
    fn the_tables_are_whole() {
        let data = 8 * (MAD_BYTES - HEADER_BYTES);
        for (name, fields, bits) in [
            ("header", header::FIELDS, 8 * HEADER_BYTES),
            ("req", req::FIELDS, data),
            ("path", path::FIELDS, req::PRIMARY.bits),
            ("mra", mra::FIELDS, data),
            ("rej", rej::FIELDS, data),
            ("rep", rep::FIELDS, data),
            ("rtu", rtu::FIELDS, data),
            ("dreq", dreq::FIELDS, data),
            ("sidr_req", sidr_req::FIELDS, data),
            ("sidr_rep", sidr_rep::FIELDS, data),
            ("addresses", addresses::FIELDS, 288),
        ] {
            let end = fields.iter().fold(0, |at, field| {
                assert_eq!(field.bit, at, "{name}.{}", field.name);
                assert!(field.bits <= 64 || field.bit % 8 == 0, "{name}.{}", field.name);
                at + field.bits
            });
            assert_eq!(end, bits, "{name}");
        }
    }

    #[test]
    fn fields_keep_to_their_bits() {
        let mut bytes = [0xff; 8];
        let field = Field {
            name: "F",
            bit: 13,
            bits: 9,
        };
        field.set(&mut bytes, 0x0aa);
        assert_eq!(field.get(&bytes), 0x0aa);
        field.set(&mut bytes, 0);
        assert_eq!(bytes, [0xff, 0xf8, 0x03, 0xff, 0xff, 0xff, 0xff, 0xff]);
        assert_eq!(field.at(1).get(&bytes), 0x0ff);
        // Out of the data: nothing.
        assert_eq!(field.at(8).get(&bytes), 0);
    }
}
