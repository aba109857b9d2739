// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a configuration to blocks and to Verilog: the engine whole, and each station alone (for area and clock).

use super::{HcaCu, HcaTengig};
use crate::host::{CompletionQueues, Counters, Registers};
use crate::mem::{DescriptorReader, DmaWriter, Keys, WriteArbiter};
use crate::responder::{Control, ReadResponderCu, ReadResponderTengig, Retire};
use crate::rx::{RxCu, RxTengig};
use crate::tx::{TxCu, TxTengig};
use crate::verilog::{self, Design, Options, PrintError};
use rust_hdl::prelude::*;
use thiserror::Error;
use verbena_spec::config::{Config, ConfigError};

/// Name of the whole engine in lists of stations.
pub const WHOLE: &str = "whole";

/// Module name of the whole engine.
pub const TOP: &str = "verbena_hca";

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

/// A block, connected and checked, ready to be printed.
fn ready<B: Block + 'static>(block: B) -> Result<Box<dyn Block>, BuildError> {
    let mut block = Box::new(block);
    block.connect_all();
    check_all(block.as_ref()).map_err(|e| BuildError::Check(format!("{e:?}")))?;
    Ok(block)
}

/// The engine of that configuration.
pub fn build(config: &Config) -> Result<Box<dyn Block>, BuildError> {
    config.check()?;
    let built = Config::preset(config.name)?.n_qps;
    if config.n_qps != built {
        return Err(ConfigError::Impossible(format!(
            "n_qps={}: so far '{}' is built with its own {built} only",
            config.n_qps, config.name
        ))
        .into());
    }
    match config.name {
        "cu" => ready(HcaCu::new(config)),
        _ => ready(HcaTengig::new(config)),
    }
}

/// The engine's Verilog.
pub fn emit(config: &Config) -> Result<Design, BuildError> {
    Ok(verilog::emit(build(config)?.as_ref(), TOP, &Options::default())?)
}

/// The engine's stations and, last, the engine, each with its Verilog.
pub fn designs(config: &Config) -> Result<Vec<(String, Design)>, BuildError> {
    let mut all = vec![];
    for (name, block) in stations(config)? {
        all.push((name.to_string(), verilog::emit(block.as_ref(), name, &Options::default())?));
    }
    all.push((WHOLE.to_string(), emit(config)?));
    Ok(all)
}

fn stations(config: &Config) -> Result<Vec<(&'static str, Box<dyn Block>)>, BuildError> {
    let control = (config.uc, config.ud, config.ipv6);
    Ok(match config.name {
        "cu" => vec![
            ("rx", ready(RxCu::new(config))?),
            ("control", ready(Control::<2, 7, 5, 6>::new(control.0, control.1, control.2))?),
            ("keys", ready(Keys::<2, 5, 1>::default())?),
            ("dma_writer", ready(DmaWriter::<32, 4, 9, 1>::default())?),
            ("write_arbiter", ready(WriteArbiter::<32, 4>::default())?),
            ("descriptor_reader", ready(DescriptorReader::<32>::default())?),
            ("retire", ready(Retire::<0, 1, 1, 2>::default())?),
            ("read_responder", ready(ReadResponderCu::default())?),
            ("queues", ready(CompletionQueues::<32, 4, 2, 4>::default())?),
            ("registers", ready(Registers::<4>::new(config))?),
            ("counters", ready(Counters::default())?),
            ("tx", ready(TxCu::default())?),
        ],
        _ => vec![
            ("rx", ready(RxTengig::new(config))?),
            ("control", ready(Control::<8, 13, 11, 12>::new(control.0, control.1, control.2))?),
            ("keys", ready(Keys::<8, 11, 12>::default())?),
            ("dma_writer", ready(DmaWriter::<64, 8, 12, 12>::default())?),
            ("write_arbiter", ready(WriteArbiter::<64, 8>::default())?),
            ("descriptor_reader", ready(DescriptorReader::<64>::default())?),
            ("retire", ready(Retire::<1, 0, 4, 5>::default())?),
            ("read_responder", ready(ReadResponderTengig::default())?),
            ("queues", ready(CompletionQueues::<64, 8, 8, 10>::default())?),
            ("registers", ready(Registers::<16>::new(config))?),
            ("counters", ready(Counters::default())?),
            ("tx", ready(TxTengig::default())?),
        ],
    })
}
