//! The event loop's side of the studio: opens it, hands it events, ends it.

use std::{
    any::Any,
    panic::{self, AssertUnwindSafe},
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use winit::{
    application::ApplicationHandler,
    event::WindowEvent,
    event_loop::{ActiveEventLoop, ControlFlow, EventLoop, EventLoopProxy},
    window::WindowId,
};

use super::Studio;
use crate::{
    gl,
    studio::{Error, Options, Result, redraw::Next, signals::Signals},
};
use egui_winit::accesskit_winit;

/// How the studio ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Its window was closed.
    Closed,
    /// This signal asked for it; everything is kept.
    Signal(i32),
    /// Another process is to go on, with what lies in this folder ([`Options::resume`]): this one can run nothing any
    /// more, or the user wants it so.
    Anew(PathBuf),
}

/// Opens the studio and returns when its window is closed, or when SIGINT or SIGTERM asks for its end.
///
/// A second one of these signals ends the process at once, as does a little more than a second in which the first was
/// of no use: a driver or a compiler may not be interruptible. What is unsaved is on the disk before.
///
/// # Errors
/// [`Error::Gl`] without a display or OpenGL, or when another program destroys the window; the errors of the device
/// and the session at the start. What goes wrong later is shown in the window.
pub fn run(options: Options) -> Result<Ended> {
    let event_loop = EventLoop::with_user_event().build().map_err(gl::Error::from)?;
    let proxy = event_loop.create_proxy();
    let signals = {
        let proxy = proxy.clone();
        // An event loop that has ended needs no telling.
        Signals::watch(move || _ = proxy.send_event(Event::End))
    };
    let mut host = Host::NotYet(Box::new(options), proxy);
    let ran = until_window_lost(|| event_loop.run_app(&mut host));
    match (host, ran) {
        (Host::Failed(error), _) => Err(*error),
        (Host::Left(folder), Some(Ok(()))) => Ok(Ended::Anew(folder)),
        (_, Some(Ok(()))) => Ok(signals.received().map_or(Ended::Closed, Ended::Signal)),
        (Host::Open(mut studio), None | Some(Err(_))) => {
            studio.close();
            studio.destroy();
            Err(gl::Error::WindowLost.into())
        }
        (_, Some(Err(error))) => Err(gl::Error::from(error).into()),
        (_, None) => Err(gl::Error::WindowLost.into()),
    }
}

/// Runs `body`; `None` where it asked the X server about a window that another program had destroyed, for which
/// winit panics.
fn until_window_lost<T>(body: impl FnOnce() -> T) -> Option<T> {
    fn is_of_lost_window(panic: &(dyn Any + Send)) -> bool {
        // As x11rb and Xlib tell it.
        let marks = ["error_kind: Drawable", "error_kind: Window", "BadDrawable", "BadWindow"];
        let text = panic.downcast_ref::<String>().map_or("", String::as_str);
        marks.iter().any(|mark| text.contains(mark))
    }
    let hook: Arc<dyn Fn(&panic::PanicHookInfo<'_>) + Send + Sync> = panic::take_hook().into();
    let report = hook.clone();
    panic::set_hook(Box::new(move |info| {
        if !is_of_lost_window(info.payload()) {
            report(info);
        }
    }));
    // What the panic leaves half done is the window's, which is gone.
    let result = panic::catch_unwind(AssertUnwindSafe(body));
    panic::set_hook(Box::new(move |info| hook(info)));
    match result {
        Ok(value) => Some(value),
        Err(panic) if is_of_lost_window(&*panic) => None,
        Err(panic) => panic::resume_unwind(panic),
    }
}

/// What wakes the event loop from another thread.
#[derive(Debug)]
pub(super) enum Event {
    /// There is something to look at: a compilation has ended, a file has changed.
    Look,
    /// egui wants a frame after this long.
    Repaint(Duration),
    /// A signal asks for the end.
    End,
    /// A screen reader, or another program that helps, comes, goes or wants something done.
    Accessibility(accesskit_winit::Event),
}

impl From<accesskit_winit::Event> for Event {
    fn from(event: accesskit_winit::Event) -> Self {
        Self::Accessibility(event)
    }
}

/// winit makes windows only within its event loop.
enum Host {
    NotYet(Box<Options>, EventLoopProxy<Event>),
    Open(Box<Studio>),
    Failed(Box<Error>),
    Closed,
    /// Closed, with what another process is to go on with.
    Left(PathBuf),
}

impl ApplicationHandler<Event> for Host {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        *self = match std::mem::replace(self, Self::Closed) {
            Self::NotYet(options, proxy) => match Studio::open(event_loop, *options, proxy) {
                Ok(studio) => Self::Open(Box::new(studio)),
                Err(error) => {
                    event_loop.exit();
                    Self::Failed(Box::new(error))
                }
            },
            other => other,
        };
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Self::Open(studio) = self else { return };
        let result = match &event {
            WindowEvent::CloseRequested => {
                studio.take_in();
                return event_loop.exit();
            }
            WindowEvent::Destroyed => Err(gl::Error::WindowLost.into()),
            event => studio.window_event(event),
        };
        if let Err(error) = result {
            studio.close();
            event_loop.exit();
            if let Self::Open(studio) = std::mem::replace(self, Self::Failed(Box::new(error))) {
                studio.destroy();
            }
        }
    }

    fn user_event(&mut self, event_loop: &ActiveEventLoop, event: Event) {
        let delay = match event {
            Event::Look => Duration::ZERO,
            Event::Repaint(delay) => delay,
            Event::Accessibility(event) => {
                if let Self::Open(studio) = self {
                    studio.help(&event);
                }
                Duration::ZERO
            }
            Event::End => {
                if let Self::Open(studio) = self {
                    studio.take_in();
                }
                return event_loop.exit();
            }
        };
        let Self::Open(studio) = self else { return };
        if let Some(moment) = Instant::now().checked_add(delay) {
            studio.redraws.want(moment);
        }
    }

    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        let Self::Open(studio) = self else { return };
        let next = studio.advance();
        if studio.anew.is_some() {
            return event_loop.exit();
        }
        event_loop.set_control_flow(match next {
            Next::Draw => {
                studio.window.request_redraw();
                ControlFlow::Wait
            }
            Next::WaitUntil(moment) => ControlFlow::WaitUntil(moment),
            Next::Wait => ControlFlow::Wait,
        });
    }

    fn exiting(&mut self, _: &ActiveEventLoop) {
        if let Self::Open(studio) = self {
            studio.close();
        }
        *self = match std::mem::replace(self, Self::Closed) {
            Self::Open(mut studio) => {
                let left = studio.anew.take();
                studio.destroy();
                left.map_or(Self::Closed, Self::Left)
            }
            other => other,
        };
    }
}
