//! The live demo: one small structure, with the exact set beside it.

mod structure;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use pds::hash::{DefaultHashBuilder, PortableHasher};
use serde_json::{Value, json};

use crate::json::{Fields, Refusal};
use structure::{Kind, Structure};

/// Number of keys that are never inserted, unless the user types one.
const STRANGERS: usize = 1_000;

/// Most cells that the page draws.
const MOST_CELLS: usize = 16_384;

/// Most keys that the demo holds: the exact set beside it takes a hundred times the memory of a filter.
const MOST_KEYS: u64 = 5_000_000;

/// A structure, and how often each key came.
#[derive(Debug)]
pub(crate) struct Demo {
    kind: Kind,
    items: u64,
    rate: f64,
    structure: Structure,
    exact: BTreeMap<Vec<u8>, u64>,
    total: u64,
}

/// Returns the hash of a key. The command line hashes a line alike, so that it finds the keys in a file of the demo.
pub(crate) fn hash(key: &[u8]) -> u64 {
    DefaultHashBuilder::default().hash_bytes(key)
}

impl Demo {
    /// Opens an empty structure of a `kind` for `items` items and a `rate`.
    pub(crate) fn open(fields: &Fields) -> Result<Self, Refusal> {
        let kind = Kind::of(fields.text("kind")?)?;
        let (items, rate) = (fields.whole("items")?, fields.real("rate")?);
        if items > MOST_KEYS {
            return Err(Refusal(format!(
                "items is {items}, but the demo holds at most {MOST_KEYS}"
            )));
        }
        let structure = Structure::new(kind, items, rate)?;
        Ok(Self { kind, items, rate, structure, exact: BTreeMap::new(), total: 0 })
    }

    /// Adds a key.
    pub(crate) fn add(&mut self, key: &[u8]) -> Result<Value, Refusal> {
        let hash = hash(key);
        let before = self.structure.cells(MOST_CELLS);
        let looked_present = self.structure.contains(hash);
        let is_new = !self.exact.contains_key(key);
        // A filter of fingerprints would keep a second copy.
        if is_new || self.kind.counts_copies() {
            self.structure.insert(hash)?;
        }
        self.note(key, 1);
        let after = self.structure.cells(MOST_CELLS);
        let changed: Vec<usize> =
            (0..after.len()).filter(|&cell| before.get(cell) != after.get(cell)).collect();
        Ok(json!({
            "did": "add",
            "is_new": is_new,
            "looked_present": looked_present,
            "changed": changed,
            "touched": self.touched(hash),
        }))
    }

    /// Adds each line of a file, and makes the structure larger first if more keys come than it is sized for.
    pub(crate) fn add_lines(&mut self, text: &[u8]) -> Result<Value, Refusal> {
        let lines = || {
            let lines = text
                .split(|&byte| byte == b'\n')
                .map(|line| line.strip_suffix(b"\r").unwrap_or(line));
            lines.filter(|line| !line.is_empty())
        };
        let mut fresh = BTreeMap::new();
        lines().for_each(|line| *fresh.entry(line).or_insert(0) += 1);
        let more = fresh.keys().filter(|&&key| !self.exact.contains_key(key)).count() as u64;
        let items = self.exact.len() as u64 + more;
        if items > MOST_KEYS {
            return Err(Refusal(format!(
                "{items} different keys are too many: the demo holds at most {MOST_KEYS}"
            )));
        }
        let is_resized = items > self.items;
        if is_resized {
            // If a key is refused, the old structure stays.
            let mut larger = Structure::new(self.kind, items, self.rate)?;
            for (key, &count) in &self.exact {
                larger.insert_copies(hash(key), self.copies(count))?;
            }
            (self.items, self.structure) = (items, larger);
        }
        for (&key, &count) in &fresh {
            if self.kind.counts_copies() || !self.exact.contains_key(key) {
                self.structure.insert_copies(hash(key), self.copies(count))?;
            }
            self.note(key, count);
        }
        Ok(
            json!({ "did": "add-lines", "lines": lines().count(), "new": more, "is_resized": is_resized }),
        )
    }

    /// How many copies of a key that came so often are inserted.
    const fn copies(&self, count: u64) -> u64 {
        if self.kind.counts_copies() { count } else { 1 }
    }

    fn note(&mut self, key: &[u8], count: u64) {
        *self.exact.entry(key.to_vec()).or_insert(0) += count;
        self.total += count;
    }

    /// Asks for a key, and compares the answer with the exact one.
    pub(crate) fn check(&self, key: &[u8]) -> Value {
        let hash = hash(key);
        json!({
            "did": "check",
            "answer": self.structure.contains(hash),
            "truth": self.exact.contains_key(key),
            "count": self.structure.count(hash),
            "true_count": self.exact.get(key).copied().unwrap_or(0),
            "touched": self.touched(hash),
        })
    }

    /// Removes a key that was added. Any other key is refused: it could take the fingerprint of a neighbour with it.
    pub(crate) fn remove(&mut self, key: &[u8]) -> Result<Value, Refusal> {
        let hash = hash(key);
        if !self.structure.can_remove() {
            return Err(Refusal(format!("no key can be removed from a {}", self.kind.name())));
        }
        if !self.exact.contains_key(key) {
            return Err(Refusal(String::from(
                "this key was never added; removing it could remove another key that shares its fingerprint",
            )));
        }
        let (before, touched) = (self.structure.cells(MOST_CELLS), self.touched(hash));
        self.structure.remove(hash);
        self.total -= self.exact.remove(key).unwrap_or(0);
        let after = self.structure.cells(MOST_CELLS);
        let changed: Vec<usize> =
            (0..before.len()).filter(|&cell| before.get(cell) != after.get(cell)).collect();
        Ok(json!({
            "did": "remove",
            "answer": self.structure.contains(hash),
            "changed": changed,
            "touched": touched,
        }))
    }

    /// Returns the cells that a key touches: those that it alone fills in an empty structure of the same shape.
    fn touched(&self, hash: u64) -> Vec<usize> {
        let cells =
            self.structure.alone(hash).map(|alone| alone.cells(MOST_CELLS)).unwrap_or_default();
        (0..cells.len()).filter(|&cell| cells[cell] != 0).collect()
    }

    /// Returns the first cells.
    pub(crate) fn cells(&self) -> Vec<u32> {
        self.structure.cells(MOST_CELLS)
    }

    /// Returns the structure in its portable bytes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.structure.to_bytes()
    }

    /// Describes the structure, and its answers for keys that were never added.
    pub(crate) fn state(&self) -> Value {
        let strangers = (1..=STRANGERS).map(|number| format!("stranger {number}"));
        let wrong: Vec<usize> = strangers
            .enumerate()
            .filter(|(_, key)| {
                !self.exact.contains_key(key.as_bytes())
                    && self.structure.contains(hash(key.as_bytes()))
            })
            .map(|(index, _)| index)
            .collect();
        json!({
            "kind": self.kind.name(),
            "can_remove": self.structure.can_remove(),
            "items": self.items,
            "exact": self.exact.len(),
            "total": self.total,
            "bytes": self.structure.size_in_bytes(),
            "cells": self.structure.num_cells(),
            "columns": self.structure.columns(),
            "group": self.structure.group(),
            "rate": self.structure.rate(),
            "estimate": self.structure.estimate().map(|one| [one.value, one.standard_error]),
            "strangers": STRANGERS,
            "wrong": wrong,
        })
    }
}
