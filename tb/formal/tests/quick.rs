// SPDX-License-Identifier: MIT OR Apache-2.0
//! The proofs that take seconds, and that a proof can fail. Without SymbiYosys they are skipped, and say so.

use verbena_formal::block::Designs;
use verbena_formal::proofs::PROOFS;
use verbena_formal::run::{edit, prove, text, Settings};
use verbena_formal::sby::{Outcome, Sby, Task};

fn tools() -> Option<Sby> {
    match Sby::find() {
        Ok(sby) => Some(sby),
        Err(error) => {
            eprintln!("SKIPPED: {error:#}");
            None
        }
    }
}

#[test]
fn quick_proofs_hold() {
    let Some(sby) = tools() else { return };
    let mut designs = Designs::default();
    let quick: Vec<_> = PROOFS.iter().filter(|p| p.quick).collect();
    assert!(quick.len() >= 5);
    for proof in quick {
        let row = prove(proof, &mut designs, &sby, Settings::default()).unwrap();
        assert!(row.held, "{row:?}");
    }
}

#[test]
fn a_broken_block_is_refuted_and_named() {
    let Some(sby) = tools() else { return };
    let mut designs = Designs::default();
    let proof = PROOFS.iter().find(|p| p.name == "skid").unwrap();
    let (text, _) = text(proof, &mut designs, &|d| {
        edit(d, "skid_4", "assign m_valid = front_valid;", "assign m_valid = 1'b0;")
    })
    .unwrap();
    let task = Task {
        name: "broken-skid",
        text: &text,
        method: proof.method,
        limit_seconds: 60,
    };
    let run = sby.run(&task).unwrap();
    assert_eq!(run.outcome, Outcome::Failed);
    assert_eq!(run.failed, ["offers_what_is_inside"]);
}

/// A name is a folder under `target/formal`, and stands for one proof.
#[test]
fn names_differ_and_every_proof_has_a_text() {
    let mut designs = Designs::default();
    for (at, proof) in PROOFS.iter().enumerate() {
        assert!(PROOFS[..at].iter().all(|p| p.name != proof.name), "{} twice", proof.name);
        let (text, assertions) = text(proof, &mut designs, &|_| Ok(())).unwrap();
        assert!(assertions > 0 && text.contains("module formal"), "{}", proof.name);
    }
}
