//! Names and the addresses that stand for them inside of a sandbox: 127.64.0.0/10, one each, never given to another name.
//!
//! Nothing is looked up for one: that a name got an address tells nothing to anybody outside.

use std::collections::{HashMap, HashSet};
use std::net::Ipv4Addr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The first of the addresses, which stands for no name.
const BASE: Ipv4Addr = Ipv4Addr::new(127, 64, 0, 0);
/// How many refused names are remembered, so that each is told once.
const MOST_REFUSED: usize = 1024;

/// The names of one sandbox.
#[derive(Debug)]
pub(super) struct Names {
    most: usize,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    numbers: HashMap<String, u32>,
    names: Vec<String>,
    refused: HashSet<String>,
}

impl Names {
    /// Room for so many.
    pub(super) fn new(most: usize) -> Self {
        // There are 2^22 addresses, and the first is not used.
        Self { most: most.min((1 << 22) - 1), table: Mutex::default() }
    }

    /// The address that stands for a name; none when the table is full.
    pub(super) fn address_of(&self, name: &str) -> Option<Ipv4Addr> {
        let mut table = self.look();
        let number = match table.numbers.get(name) {
            Some(number) => *number,
            None if table.names.len() >= self.most => return None,
            None => {
                table.names.push(name.to_owned());
                let number = u32::try_from(table.names.len()).ok()?;
                table.numbers.insert(name.to_owned(), number);
                number
            }
        };
        Some(Ipv4Addr::from(u32::from(BASE) + number))
    }

    /// The name that an address stands for.
    pub(super) fn name_of(&self, address: Ipv4Addr) -> Option<String> {
        let number = u32::from(address).checked_sub(u32::from(BASE))?.checked_sub(1)?;
        self.look().names.get(usize::try_from(number).ok()?).cloned()
    }

    /// Whether a refused name is a new one, as far as is remembered.
    pub(super) fn is_news(&self, name: &str) -> bool {
        let mut table = self.look();
        if table.refused.len() >= MOST_REFUSED {
            return !table.refused.contains(name);
        }
        table.refused.insert(name.to_owned())
    }

    fn look(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
