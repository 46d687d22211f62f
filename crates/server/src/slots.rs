//! The connections that are open on one listener: so many and no more, with room kept for clients that are known.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::connection::Exchange;

/// The open connections of one listener.
#[derive(Debug)]
pub struct Slots {
    most: usize,
    /// How many of them may be strangers that have finished their handshake.
    most_strangers: usize,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    next: u64,
    open: BTreeMap<u64, Open>,
}

#[derive(Debug)]
struct Open {
    address: IpAddr,
    standing: Standing,
    exchange: Exchange,
    /// When it was last used, in order.
    used: u64,
    make_way: Arc<Notify>,
}

/// What a connection has proved so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    InHandshake,
    Stranger,
    Known,
}

/// One connection among those that are open, until it is dropped.
#[derive(Debug)]
pub struct Slot {
    slots: Arc<Slots>,
    id: u64,
    pub exchange: Exchange,
    make_way: Arc<Notify>,
}

/// How a connection came by its slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    Free,
    /// Another connection was told to close.
    Made,
    /// Every other connection is a known client's or is being answered.
    None,
}

impl Slots {
    /// Slots for `most` connections. Strangers that have finished their handshake get at most `most_strangers` of them.
    pub fn new(most: usize, most_strangers: usize) -> Arc<Self> {
        Arc::new(Slots { most, most_strangers, table: Mutex::default() })
    }

    /// A slot for a new connection. Where all are taken, a stranger's connection has to go.
    pub fn enter(self: &Arc<Self>, address: IpAddr) -> (Room, Option<Slot>) {
        let mut table = self.table();
        let room = if table.open.len() < self.most { Room::Free } else { table.make_room(None) };
        if room == Room::None {
            return (room, None);
        }
        let id = table.tick();
        let (exchange, make_way) = (Exchange::default(), Arc::new(Notify::new()));
        let standing = Standing::InHandshake;
        let open = Open { address, standing, exchange: exchange.clone(), used: id, make_way: Arc::clone(&make_way) };
        table.open.insert(id, open);
        (room, Some(Slot { slots: Arc::clone(self), id, exchange, make_way }))
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn tick(&mut self) -> u64 {
        self.next = self.next.saturating_add(1);
        self.next
    }

    /// Closes one connection that waits for its client: of the address that has most of those, the one that was not used
    /// for the longest time. With `only` it is one of this standing.
    fn make_room(&mut self, only: Option<Standing>) -> Room {
        let may_go = |open: &Open| {
            open.standing != Standing::Known
                && !open.exchange.is_being_answered()
                && only.is_none_or(|only| open.standing == only)
        };
        let mut of_address: HashMap<IpAddr, usize> = HashMap::new();
        for open in self.open.values().filter(|open| may_go(open)) {
            let count = of_address.entry(open.address).or_default();
            *count = count.saturating_add(1);
        }
        let candidates = self.open.iter().filter(|(_, open)| may_go(open));
        let goes = candidates
            .max_by_key(|(id, open)| (of_address.get(&open.address).copied(), std::cmp::Reverse((open.used, **id))));
        match goes.map(|(id, _)| *id).and_then(|id| self.open.remove(&id)) {
            Some(open) => {
                open.make_way.notify_one();
                Room::Made
            }
            None => Room::None,
        }
    }
}

impl Slot {
    /// What the handshake proved. Where there are too many strangers already, one of them has to go for another.
    pub fn finishes_handshake(&self, is_known: bool) -> Room {
        let mut table = self.slots.table();
        let strangers = table.open.values().filter(|open| open.standing == Standing::Stranger).count();
        let room = match is_known || strangers < self.slots.most_strangers {
            true => Room::Free,
            false => table.make_room(Some(Standing::Stranger)),
        };
        if let Some(open) = table.open.get_mut(&self.id) {
            open.standing = if is_known { Standing::Known } else { Standing::Stranger };
        }
        room
    }

    /// A request begins; what a certificate is worth may have changed with the CA.
    pub fn is_used(&self, is_known: bool) {
        let mut table = self.slots.table();
        let used = table.tick();
        if let Some(open) = table.open.get_mut(&self.id) {
            open.used = used;
            open.standing = if is_known { Standing::Known } else { Standing::Stranger };
        }
    }

    /// Comes true when another connection needs the slot.
    pub async fn has_to_go(&self) {
        self.make_way.notified().await;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.table().open.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        [10, 0, 0, last].into()
    }

    fn enter(slots: &Arc<Slots>, last: u8) -> Slot {
        slots.enter(address(last)).1.unwrap()
    }

    fn goes(slot: &Slot) -> bool {
        !slot.slots.table().open.contains_key(&slot.id)
    }

    #[test]
    fn the_stranger_that_was_idle_for_longest_goes_first_and_known_clients_never() {
        let slots = Slots::new(3, 3);
        let [known, first, second] = [enter(&slots, 1), enter(&slots, 1), enter(&slots, 1)];
        assert_eq!(known.finishes_handshake(true), Room::Free);
        assert_eq!(first.finishes_handshake(false), Room::Free);
        first.is_used(false);
        let (room, third) = slots.enter(address(1));
        assert_eq!((room, goes(&known), goes(&first), goes(&second)), (Room::Made, false, false, true));
        assert_eq!(third.as_ref().unwrap().finishes_handshake(true), Room::Free);
        first.exchange.request_begins(Some(0));
        first.exchange.body_is_read();
        assert_eq!(slots.enter(address(1)).0, Room::None);
        first.exchange.request_ends();
        assert_eq!(slots.enter(address(1)).0, Room::Made);
        assert!(goes(&first));
    }

    #[test]
    fn the_address_with_most_connections_gives_way() {
        let slots = Slots::new(4, 4);
        let (quiet, loud) = (enter(&slots, 1), [enter(&slots, 2), enter(&slots, 2), enter(&slots, 2)]);
        let newcomers: Vec<(Room, Option<Slot>)> = (0..2).map(|_| slots.enter(address(3))).collect();
        assert!(newcomers.iter().all(|(room, _)| *room == Room::Made));
        assert_eq!((goes(&quiet), loud.iter().map(goes).collect::<Vec<_>>()), (false, vec![true, true, false]));
    }

    #[test]
    fn strangers_take_no_more_than_their_part() {
        let slots = Slots::new(4, 2);
        let strangers = [enter(&slots, 1), enter(&slots, 1), enter(&slots, 1)];
        let rooms: Vec<Room> = strangers.iter().map(|slot| slot.finishes_handshake(false)).collect();
        assert_eq!(rooms, [Room::Free, Room::Free, Room::Made]);
        assert_eq!(strangers.iter().map(goes).collect::<Vec<_>>(), [true, false, false]);
        for slot in &strangers[1..] {
            slot.exchange.request_begins(Some(0));
            slot.exchange.body_is_read();
        }
        assert_eq!(enter(&slots, 1).finishes_handshake(false), Room::None);
        assert_eq!(enter(&slots, 1).finishes_handshake(true), Room::Free);
    }
}
