//! An arrangement as a tree of tiles, and the arrangement of such a tree.

use egui_tiles::{Container, LinearDir, Tile, TileId, Tiles};

use super::{Arrangement, Pane};

/// Puts an arrangement into `tiles`; each pane has a tab.
pub(super) fn insert(tiles: &mut Tiles<Pane>, arrangement: &Arrangement) -> TileId {
    let mut linear = |dir, parts: &[(f32, Arrangement)]| {
        let children: Vec<TileId> = parts.iter().map(|(_, part)| insert(tiles, part)).collect();
        let mut linear = egui_tiles::Linear::new(dir, children.clone());
        for (child, (part, _)) in children.into_iter().zip(parts) {
            linear.shares.set_share(child, *part);
        }
        tiles.insert_container(linear)
    };
    match arrangement {
        Arrangement::Pane(pane) => {
            let pane = tiles.insert_pane(*pane);
            tiles.insert_tab_tile(vec![pane])
        }
        Arrangement::Row(parts) => linear(LinearDir::Horizontal, parts),
        Arrangement::Column(parts) => linear(LinearDir::Vertical, parts),
        Arrangement::Tabs(shown, parts) => {
            let children = parts.iter().map(|part| match part {
                Arrangement::Pane(pane) => tiles.insert_pane(*pane),
                part => insert(tiles, part),
            });
            let children: Vec<TileId> = children.collect();
            let active = children.get(*shown).copied();
            tiles.insert_container(egui_tiles::Tabs { children, active })
        }
    }
}

/// The arrangement of the tile `id` and of those in it; `None` where there is no such tile.
pub(super) fn arrangement(tiles: &Tiles<Pane>, id: TileId) -> Option<Arrangement> {
    let of = |child: &TileId| arrangement(tiles, *child);
    match tiles.get(id)? {
        Tile::Pane(pane) => Some(Arrangement::Pane(*pane)),
        Tile::Container(Container::Tabs(tabs)) => {
            let shown = tabs.children.iter().position(|child| Some(*child) == tabs.active);
            Some(Arrangement::Tabs(
                shown.unwrap_or(0),
                tabs.children.iter().filter_map(of).collect(),
            ))
        }
        Tile::Container(Container::Linear(linear)) => {
            let parts = linear.children.iter();
            let parts =
                parts.filter_map(|child| Some((linear.shares[*child], of(child)?))).collect();
            Some(match linear.dir {
                LinearDir::Horizontal => Arrangement::Row(parts),
                LinearDir::Vertical => Arrangement::Column(parts),
            })
        }
        Tile::Container(Container::Grid(grid)) => Some(Arrangement::Row(
            grid.children().filter_map(|child| Some((1.0, of(child)?))).collect(),
        )),
    }
}
