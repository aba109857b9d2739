// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a configuration to blocks and to Verilog: the engine whole, and each station alone (for area and clock).

use crate::responder::Retire;
use crate::tx::{TxCu, TxTengig};
use crate::verilog::{self, Design, Options, PrintError};
use crate::wire::Icrc;
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
    ready(Icrc::<64, 2>::default())
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
    Ok(match config.data_bits {
        64 => vec![
            ("icrc", ready(Icrc::<64, 2>::default())?),
            ("retire", ready(Retire::<1, 0, 4, 5>::default())?),
            ("tx", ready(TxTengig::default())?),
        ],
        _ => vec![
            ("icrc", ready(Icrc::<32, 1>::default())?),
            ("retire", ready(Retire::<0, 0, 1, 2>::default())?),
            ("tx", ready(TxCu::default())?),
        ],
    })
}
