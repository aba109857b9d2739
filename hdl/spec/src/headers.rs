// SPDX-License-Identifier: MIT OR Apache-2.0
//! RoCEv2 header fields and opcodes (IBTA volume 1, chapter 9).
