// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every block's testbench, each a module. One binary: tests of different files run beside each other, and Verilated blocks are printed once.

mod arbiters;
mod board;
mod board_cu;
mod board_diff;
mod complete;
mod congestion;
mod control;
mod dma_reader;
mod docs_fresh;
mod host;
mod icrc;
mod mac;
mod mem;
mod merges;
mod micro;
mod mirror;
mod printer_designs;
mod ram_blocks;
mod read_responder;
mod reorder;
mod response_queue;
mod retire;
mod rx;
mod send;
mod stream_diff;
mod tx;
mod yosys;
