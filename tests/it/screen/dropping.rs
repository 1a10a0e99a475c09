//! A client that drops a file on the studio's window, as file managers do: by the protocol XDND, version 5
//! (freedesktop.org/wiki/Specifications/XDND).

use std::{path::Path, thread::sleep, time::Duration};

use x11rb::{
    COPY_DEPTH_FROM_PARENT, COPY_FROM_PARENT, CURRENT_TIME,
    connection::Connection,
    protocol::{
        Event,
        xproto::{
            Atom, AtomEnum, ClientMessageEvent, ConnectionExt as _, CreateWindowAux, EventMask,
            PropMode, SELECTION_NOTIFY_EVENT, SelectionNotifyEvent, SelectionRequestEvent, Window,
            WindowClass,
        },
    },
    rust_connection::RustConnection,
    wrapper::ConnectionExt as _,
};

use super::Screen;

/// Who drags, and on what.
struct Source {
    connection: RustConnection,
    own: Window,
    target: Window,
    uris: String,
}

impl Screen {
    /// Drops the file at this place of the screen, and waits until the window has it.
    #[track_caller]
    pub fn drop_file(&self, path: &Path, [x, y]: [u32; 2]) {
        let source = Source::new(&self.display, path);
        let (own, copy) = (source.own, source.atom("XdndActionCopy"));
        source.send("XdndEnter", [own, 5 << 24, source.atom("text/uri-list"), 0, 0]);
        source.send("XdndPosition", [own, 0, x << 16 | y, CURRENT_TIME, copy]);
        let [status, finished] = ["XdndStatus", "XdndFinished"].map(|name| source.atom(name));
        let (mut is_dropped, mut is_done) = (false, false);
        self.until("the window takes the file", || {
            while let Some(event) = source.connection.poll_for_event().unwrap() {
                match event {
                    Event::SelectionRequest(request) => source.answer(&request),
                    Event::ClientMessage(message) if message.type_ == status && !is_dropped => {
                        assert_eq!(message.data.as_data32()[1] & 1, 1, "the window refuses it");
                        source.send("XdndDrop", [own, 0, CURRENT_TIME, 0, 0]);
                        is_dropped = true;
                    }
                    Event::ClientMessage(message) => is_done |= message.type_ == finished,
                    _ => {}
                }
            }
            sleep(Duration::from_millis(20));
            is_done
        });
    }
}

impl Source {
    fn new(display: &str, path: &Path) -> Self {
        let (connection, screen) = RustConnection::connect(Some(display)).unwrap();
        let root = connection.setup().roots[screen].root;
        let own = connection.generate_id().unwrap();
        let (depth, class) = (COPY_DEPTH_FROM_PARENT, WindowClass::INPUT_OUTPUT);
        let aux = CreateWindowAux::new();
        connection
            .create_window(depth, own, root, 0, 0, 1, 1, 0, class, COPY_FROM_PARENT, &aux)
            .unwrap();
        let uris = format!("file://{}\r\n", path.display());
        let mut source = Self { connection, own, target: root, uris };
        let selection = source.atom("XdndSelection");
        source.connection.set_selection_owner(own, selection, CURRENT_TIME).unwrap();
        source.target = source.aware_of(root);
        source
    }

    /// The window on the screen that takes what is dropped.
    fn aware_of(&self, root: Window) -> Window {
        let aware = self.atom("XdndAware");
        let tree = self.connection.query_tree(root).unwrap().reply().unwrap();
        let is_aware = |window: &Window| {
            let asked = self.connection.get_property(false, *window, aware, AtomEnum::ANY, 0, 1);
            asked.unwrap().reply().is_ok_and(|property| property.value_len > 0)
        };
        tree.children.into_iter().find(is_aware).expect("no window takes what is dropped")
    }

    fn atom(&self, name: &str) -> Atom {
        self.connection.intern_atom(false, name.as_bytes()).unwrap().reply().unwrap().atom
    }

    fn send(&self, name: &str, data: [u32; 5]) {
        let message = ClientMessageEvent::new(32, self.target, self.atom(name), data);
        self.connection.send_event(false, self.target, EventMask::NO_EVENT, message).unwrap();
        self.connection.flush().unwrap();
    }

    /// Says which files are dropped.
    fn answer(&self, request: &SelectionRequestEvent) {
        let SelectionRequestEvent { requestor, property, target, selection, time, .. } = *request;
        self.connection
            .change_property8(PropMode::REPLACE, requestor, property, target, self.uris.as_bytes())
            .unwrap();
        let answer = SelectionNotifyEvent {
            response_type: SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time,
            requestor,
            selection,
            target,
            property,
        };
        self.connection.send_event(false, requestor, EventMask::NO_EVENT, answer).unwrap();
        self.connection.flush().unwrap();
    }
}
