// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a configuration to blocks and to Verilog: the engine whole, and each station (and the MAC beside it) alone, for area and clock.

use crate::hca_xgmii::{HcaXgmii, LONGEST_FRAME};
use crate::{CuCore, Ecp5Core, UART_DIVISOR};
use rust_hdl::prelude::*;
use thiserror::Error;
use verbena_hdl::board::{MacPins, SmallRam, UartPort};
use verbena_hdl::congestion::{NotificationPoint, ReactionPoint};
use verbena_hdl::host::{CompletionQueues, Counters, Registers};
use verbena_hdl::mac::Mac;
use verbena_hdl::mem::{DescriptorReader, DmaReaderCu, DmaReaderTengig, DmaWriter, Keys, WriteArbiter};
use verbena_hdl::micro::{Core, HcaMicro, Receiver};
use verbena_hdl::reorder::ReorderTengig;
use verbena_hdl::requester::{Complete, CompleteConfig, Send};
use verbena_hdl::responder::{Control, Features, ReadResponderCu, ReadResponderTengig, Retire};
use verbena_hdl::rx::{RxCu, RxTengig};
use verbena_hdl::top::{HcaTengig, HcaTengig16, HcaTengig64, HcaTengigDeep};
use verbena_hdl::tx::{TxCu, TxTengig};
use verbena_hdl::verilog::{self, Design, Options, PrintError};
use verbena_spec::config::{Config, ConfigError};

/// Name of the whole engine in lists of stations.
pub const WHOLE: &str = "whole";

/// Module name of the whole engine.
pub const TOP: &str = "verbena_hca";

/// Module name of the engine with its MAC.
pub const TOP_XGMII: &str = "verbena_hca_xgmii";

/// Module name of the MAC alone.
pub const TOP_MAC: &str = "verbena_mac";

/// Module name of the `ecp5` board without its vendor cells.
pub const TOP_ECP5: &str = "verbena_ecp5";

/// Module name of the `cu` board without its vendor cells.
pub const TOP_CU: &str = "verbena_cu";

/// Why a configuration gave no design.
#[derive(Debug, Error)]
pub enum BuildError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Print(#[from] PrintError),
    #[error("circuit check: {0}")]
    Check(String),
}

/// An engine takes megabytes of stack until it is boxed, a thread of a test has two.
const STACK: usize = 32 << 20;

/// `work`, where there is stack enough for whole designs.
fn roomy<T: std::marker::Send>(work: impl FnOnce() -> Result<T, BuildError> + std::marker::Send) -> Result<T, BuildError> {
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let worker = worker.map_err(|e| BuildError::Check(format!("no thread with {STACK} bytes of stack: {e}")))?;
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// A block, connected and checked, ready to be printed.
fn ready<B: Block + 'static>(block: B) -> Result<Box<dyn Block>, BuildError> {
    let mut block = Box::new(block);
    block.connect_all();
    check_all(block.as_ref()).map_err(|e| BuildError::Check(format!("{e:?}")))?;
    Ok(block)
}

/// The block that `new` makes, ready. In a frame of its own, so that those of all sizes don't add up.
fn made<B: Block + 'static>(new: impl Fn(&Config) -> B, config: &Config) -> Result<Box<dyn Block>, BuildError> {
    ready(new(config))
}

/// The program of the microprogrammed engine.
fn microcode() -> Result<Vec<u32>, BuildError> {
    let program = verbena_spec::micro::program::program().map_err(|e| BuildError::Check(format!("microcode: {e}")))?;
    Ok(program.words)
}

/// The engine of that configuration.
pub fn build(config: &Config) -> Result<Box<dyn Block>, BuildError> {
    config.check()?;
    match (config.name, config.n_qps, config.roce_buffer) {
        ("cu", ..) => ready(HcaMicro::new(config, &microcode()?)),
        (_, 16, _) => made(HcaTengig16::new, config),
        (_, 64, _) => made(HcaTengig64::new, config),
        (_, _, 0x1_0000) => made(HcaTengigDeep::new, config),
        _ => made(HcaTengig::new, config),
    }
}

/// The engine's Verilog.
pub fn emit(config: &Config) -> Result<Design, BuildError> {
    roomy(|| Ok(verilog::emit(build(config)?.as_ref(), TOP, &Options::default())?))
}

/// The Verilog of the engine with the 10G MAC; `tengig` only.
pub fn emit_xgmii(config: &Config) -> Result<Design, BuildError> {
    with_mac(config)?;
    roomy(|| {
        let block = ready(HcaXgmii::new(config))?;
        Ok(verilog::emit(block.as_ref(), TOP_XGMII, &Options::default())?)
    })
}

/// The Verilog of the `ecp5` board without its vendor cells; `tengig` only.
pub fn emit_ecp5(config: &Config) -> Result<Design, BuildError> {
    with_mac(config)?;
    roomy(|| {
        let block = ready(Ecp5Core::new(config))?;
        Ok(verilog::emit(block.as_ref(), TOP_ECP5, &Options::default())?)
    })
}

/// The Verilog of the `cu` board without its vendor cells; `cu` only.
pub fn emit_cu(config: &Config) -> Result<Design, BuildError> {
    config.check()?;
    if config.data_bits != 32 {
        return Err(ConfigError::Impossible(format!("'{}' has no 32-bit beats: the cu board carries cu", config.name)).into());
    }
    own_size(config)?;
    roomy(|| {
        let block = ready(CuCore::new(config, &microcode()?))?;
        Ok(verilog::emit(block.as_ref(), TOP_CU, &Options::default())?)
    })
}

/// The Verilog of the MAC alone; `tengig` only.
pub fn emit_mac(config: &Config) -> Result<Design, BuildError> {
    with_mac(config)?;
    let block = ready(Mac::<LONGEST_FRAME>::default())?;
    Ok(verilog::emit(block.as_ref(), TOP_MAC, &Options::default())?)
}

/// What stands around an engine, and the stations alone, are built for the preset's own sizes.
fn own_size(config: &Config) -> Result<(), BuildError> {
    let own = Config::preset(config.name)?;
    for (key, set, own) in [
        ("n_qps", config.n_qps, own.n_qps),
        ("roce_buffer", config.roce_buffer, own.roce_buffer),
    ] {
        if set != own {
            let why = format!(
                "{key}={set}: only the engine alone is built so, the rest of '{}' with {own}",
                config.name
            );
            return Err(ConfigError::Impossible(why).into());
        }
    }
    Ok(())
}

fn with_mac(config: &Config) -> Result<(), BuildError> {
    config.check()?;
    if config.data_bits != 64 {
        return Err(ConfigError::Impossible(format!("'{}' has no 64-bit beats: the MAC is built for tengig", config.name)).into());
    }
    own_size(config)?;
    Ok(())
}

/// The engine's stations and, last, the engine, each with its Verilog.
pub fn designs(config: &Config) -> Result<Vec<(String, Design)>, BuildError> {
    let mut all = roomy(|| {
        let print = |(name, block): Station| Ok((name.to_string(), verilog::emit(block.as_ref(), name, &Options::default())?));
        stations(config)?.into_iter().map(print).collect::<Result<Vec<_>, BuildError>>()
    })?;
    all.push((WHOLE.to_string(), emit(config)?));
    Ok(all)
}

/// A station alone, with its name.
type Station = (&'static str, Box<dyn Block>);

fn stations(config: &Config) -> Result<Vec<Station>, BuildError> {
    let complete = CompleteConfig::of(config);
    Ok(match config.name {
        "cu" => vec![
            ("rx", ready(RxCu::new(config))?),
            ("control", ready(Control::<2, 6, 5, 6>::new(Features::of(config)))?),
            ("keys", ready(Keys::<2, 5, 1>::new(config))?),
            ("dma_writer", ready(DmaWriter::<32, 4, 9, 1, 1>::new(config))?),
            ("write_arbiter", ready(WriteArbiter::<32, 4>::new(config))?),
            ("descriptor_reader", ready(DescriptorReader::<32>::new(config))?),
            ("retire", ready(Retire::<0, 0, 1, 2, 3>::new(config))?),
            ("read_responder", ready(ReadResponderCu::default())?),
            ("complete", ready(Complete::<32, 2, 7, 8, 3, 4>::new(complete))?),
            ("queues", ready(CompletionQueues::<32, 4, 2, 4, 16, 2>::new(config))?),
            ("registers", ready(Registers::<4>::new(config))?),
            ("counters", ready(Counters::new(config))?),
            ("dma_reader", ready(DmaReaderCu::default())?),
            ("tx", ready(TxCu::default())?),
            ("micro_core", ready(Core::new(&microcode()?))?),
            ("micro_receiver", ready(Receiver::new(config))?),
            ("micro", ready(HcaMicro::new(config, &microcode()?))?),
            ("small_ram", ready(SmallRam::<10>::default())?),
            ("uart_port", ready(UartPort::<21, 10>::new(UART_DIVISOR))?),
            ("mac_pins", ready(MacPins::default())?),
            ("send", ready(Send::<32, 1, 2, 3, 4, 5, 7, 7, 20, 0, 0>::default())?),
        ],
        _ => vec![
            ("rx", ready(RxTengig::new(config))?),
            ("control", ready(Control::<8, 12, 11, 12>::new(Features::of(config)))?),
            ("reorder", ready(ReorderTengig::default())?),
            ("notification_point", ready(NotificationPoint::<8>::default())?),
            ("reaction_point", ready(ReactionPoint::<8, 9, 22>::default())?),
            ("keys", ready(Keys::<8, 11, 12>::new(config))?),
            ("dma_writer", ready(DmaWriter::<64, 8, 12, 12, 8>::new(config))?),
            ("write_arbiter", ready(WriteArbiter::<64, 8>::new(config))?),
            ("descriptor_reader", ready(DescriptorReader::<64>::new(config))?),
            ("retire", ready(Retire::<1, 0, 4, 5, 6>::new(config))?),
            ("read_responder", ready(ReadResponderTengig::default())?),
            ("complete", ready(Complete::<64, 8, 13, 14, 9, 10>::new(complete))?),
            ("queues", ready(CompletionQueues::<64, 8, 8, 10, 32, 8>::new(config))?),
            ("registers", ready(Registers::<16>::new(config))?),
            ("counters", ready(Counters::new(config))?),
            ("dma_reader", ready(DmaReaderTengig::default())?),
            ("tx", ready(TxTengig::default())?),
            ("send", ready(Send::<64, 2, 8, 9, 10, 11, 13, 12, 26, 1, 1>::default())?),
            ("mac", ready(Mac::<LONGEST_FRAME>::default())?),
        ],
    })
}
