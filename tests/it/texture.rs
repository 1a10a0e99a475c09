//! Textures and surfaces: arrays, objects, copies, and every instruction, on both devices. What is expected comes from
//! the CUDA C++ programming guide's formulas ("Texture Fetching"), in `f64`.

mod bench;
mod copies;
mod fetch;
mod nvrtc;
mod objects;
mod surfaces;

use warpaint::device::Device;

use crate::support::nvidia;

/// A test for each function, on both engines of the CPU device and where there is one on an NVIDIA GPU.
macro_rules! contract {
    ($($module:ident { $($name:ident,)* })*) => {
        mod on_the_cpu_device {
            $(mod $module {
                $(#[test]
                fn $name() {
                    crate::texture::$module::$name(&crate::texture::cpu());
                })*
            })*
        }

        mod on_the_interpreter {
            $(mod $module {
                $(#[test]
                fn $name() {
                    crate::support::interpreted(|| {
                        crate::texture::$module::$name(&crate::texture::cpu());
                    });
                })*
            })*
        }

        mod on_nvidia {
            $(mod $module {
                $(#[test]
                fn $name() {
                    if let Some(device) = crate::support::nvidia() {
                        crate::texture::$module::$name(&device);
                    }
                })*
            })*
        }
    };
}

fn cpu() -> Device {
    Device::cpu().unwrap()
}

contract! {
    copies {
        an_array_keeps_its_bytes,
        regions_are_copied,
        rows_with_a_pitch_are_copied,
        arrays_are_copied_to_arrays,
        large_arrays_are_copied_in_pieces,
        wrong_copies_are_errors,
    }
    fetch {
        every_format_is_read,
        integers_are_read_as_fractions,
        srgb_becomes_linear,
        coordinates_outside_are_addressed,
        filters_weigh_neighbours,
        weights_are_256ths,
        layers_do_not_mix,
        cubes_are_read_by_direction,
        four_texels_are_gathered,
        levels_and_gradients_change_nothing,
        whole_texels_are_read,
        offsets_move_texels,
        linear_memory_is_read,
        rows_in_linear_memory_are_read,
        sizes_are_asked_for,
    }
    surfaces {
        every_width_is_read_and_written,
        every_shape_is_written,
        accesses_outside_clamp_or_vanish,
        texels_are_converted,
        what_a_surface_wrote_a_texture_reads,
    }
    objects {
        impossible_descriptors_are_errors,
        impossible_sizes_are_errors,
        objects_keep_their_array,
        objects_are_dropped_anywhere,
    }
}

/// What both devices make of the same fetches: bit for bit where nothing is rounded, else within the weights' steps.
#[test]
fn nvidia_and_the_cpu_device_agree() {
    if let Some(device) = nvidia() {
        fetch::devices_agree(&cpu(), &device);
    }
}
