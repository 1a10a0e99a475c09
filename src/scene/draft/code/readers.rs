//! What is known of C, C++ and CUDA to read numbers that it is given, and never to set them.

/// Functions of C take values, and so do those whose names begin so.
const OF_HEADERS: [&str; 10] =
    ["make_cuda", "MPI_", "omp_", "glut", "sdk", "nccl", "cublas", "cufft", "curand", "cusparse"];
/// The same where a capital letter follows.
const OF_LIBRARIES: [&str; 6] = ["cuda", "cu", "cusolver", "gl", "nvtx", "atomic"];
/// Other functions of C and C++.
const FUNCTIONS: &str = " \
    memset memcpy memmove memcmp memchr strlen strcmp strncmp strncpy strncat strchr strtol strtoul \
    strtod strtof strtoll strtoull strdup strerror printf fprintf sprintf snprintf vprintf puts fputs \
    putchar fputc putc scanf fscanf sscanf malloc calloc realloc free aligned_alloc posix_memalign \
    _aligned_malloc alloca valloc exit abort assert atexit rand srand srand48 drand48 lrand48 random \
    srandom atoi atol atoll atof sleep usleep nanosleep time clock difftime fopen fclose fread fwrite \
    fseek ftell fflush feof fgets getline getenv system open close read write mmap munmap gettimeofday \
    clock_gettime isnan isinf isfinite signbit abs labs llabs fabs fabsf sqrt sqrtf rsqrt rsqrtf cbrt \
    cbrtf hypot hypotf pow powf powi exp expf exp2 exp2f expm1 log logf log2 log2f log10 log10f log1p \
    sin sinf cos cosf tan tanf asin asinf acos acosf atan atanf atan2 atan2f sinh sinhf cosh coshf tanh \
    tanhf ceil ceilf floor floorf round roundf lround lroundf llround rint rintf trunc truncf fmod fmodf \
    remainder fmin fminf fmax fmaxf fma fmaf copysign copysignf ldexp scalbn ilogb logb div ldiv lldiv \
    erf erff erfc tgamma lgamma min max minmax clamp mid midpoint gcd lcm fill fill_n generate_n copy_n \
    for_each_n accumulate reduce iota count count_if find find_if lower_bound upper_bound binary_search \
    begin end distance next prev sort nth_element to_string to_wstring stoi stol stoll stoul stoull stof \
    stod to_chars make_pair make_tuple sleep_for seconds milliseconds microseconds qsort bsearch rotate \
    shuffle setw setprecision setfill setbase put_time get_time bit_ceil bit_floor bit_width popcount \
    countl_zero countr_zero has_single_bit isdigit isspace isalpha tolower toupper as_const integral \
    umin umax make_unique make_shared sequence transform device_pointer_cast raw_pointer_cast constant \
    counting_iterator ";
/// Methods of containers, streams and generators.
const METHODS: &str = " \
    push_back push_front push emplace emplace_back resize reserve assign at insert erase append substr \
    count find contains fill seed discard width precision seekg seekp write read put ignore setf rdbuf \
    compare lower_bound upper_bound rehash set_value wait_for sync shfl shfl_down shfl_up shfl_xor \
    subspan first last store fetch_add fetch_sub fetch_or fetch_and ";
/// Types that are made of values.
const TYPES: &str = " \
    dim3 vector array string wstring valarray deque list set map unordered_map unordered_set bitset \
    unique_ptr shared_ptr optional complex atomic queue stack span string_view initializer_list \
    host_vector device_vector universal_vector device_ptr mt19937 mt19937_64 minstd_rand \
    default_random_engine ranlux24 uniform_int_distribution uniform_real_distribution \
    normal_distribution bernoulli_distribution size_t ssize_t ptrdiff_t counting_iterator \
    constant_iterator chrono duration cudaExtent cudaPos half __half __half2 nv_bfloat16 ofstream \
    ostringstream ifstream fstream stringstream ";

/// Keywords that read what stands in the parentheses behind them.
const KEYWORDS: &str = " \
    if for while switch return sizeof alignof noexcept throw case not and or else do delete decltype typeid \
    static_assert constexpr ";

/// Whether a word is one of C++'s that reads what stands in the parentheses behind it.
pub(in crate::scene::draft) fn is_reading_keyword(word: &str) -> bool {
    is_in(KEYWORDS, word)
}

/// Whether a function, or the method of something, is known to read what it is given.
pub(in crate::scene::draft) fn reads(name: &str, is_method: bool) -> bool {
    let follows = |prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(char::is_uppercase))
    };
    is_in(if is_method { METHODS } else { FUNCTIONS }, name)
        || !is_method
            && (name.starts_with("__")
                || OF_HEADERS.iter().any(|prefix| name.starts_with(prefix))
                || name.strip_prefix("make_").is_some_and(is_of_values)
                || OF_LIBRARIES.iter().any(|prefix| follows(prefix)))
}

/// What something does with the memory that it is given the address of.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::scene::draft) enum Argument {
    Reads,
    Writes,
    Unknown,
}

/// Functions that write to none of the memory whose address they are given, or only let it be.
const READING_MEMORY: &str = " \
    printf fprintf puts fputs free cudaFree cudaFreeHost cudaFreeAsync _aligned_free if while for switch \
    sizeof assert memcmp strlen strcmp strncmp fwrite accumulate count count_if distance equal is_sorted \
    all_of any_of none_of binary_search cudaHostRegister cudaHostUnregister cudaMemPrefetchAsync \
    cudaMemAdvise cudaBindTexture cudaBindTextureToArray cudaBindTexture2D cudaPointerGetAttributes \
    cudaMalloc cudaMallocHost cudaHostAlloc cudaMallocManaged cudaMallocAsync cudaMallocPitch \
    cudaMallocArray cudaStreamAttachMemAsync posix_memalign decltype atoi atof ";
/// Those that write to what their first argument points to alone.
const WRITING_FIRST: &str = " \
    memcpy memmove cudaMemcpy cudaMemcpyAsync cudaMemcpy2D cudaMemcpy2DAsync cudaMemcpyToSymbol \
    cudaMemcpyToSymbolAsync cudaMemcpyToArray cudaMemcpy2DToArray memset cudaMemset cudaMemsetAsync \
    strcpy strcat sprintf snprintf fread fgets fill fill_n iota generate generate_n sequence ";
/// Those that give a place in what they are given.
const PLACES: &str =
    " max_element min_element find find_if lower_bound upper_bound begin end next ";
/// Types, and methods, that copy what they are given the address of.
const COPYING: &str = " \
    vector array string wstring valarray deque list set host_vector device_vector universal_vector \
    assign ";

/// What a function does with the memory whose address is one of its arguments, which is this one where that is known.
pub(in crate::scene::draft) fn argument(function: &str, index: Option<usize>) -> Argument {
    let is_written = match index {
        Some(index) => index == 0,
        None => true,
    };
    match function {
        _ if is_in(READING_MEMORY, function) => Argument::Reads,
        _ if is_in(WRITING_FIRST, function) && !is_written => Argument::Reads,
        _ if is_in(WRITING_FIRST, function) => Argument::Writes,
        "copy" | "copy_n" | "transform" if index.is_some_and(|index| index < 2) => Argument::Reads,
        "merge" if index.is_some_and(|index| index < 4) => Argument::Reads,
        // The last matrix is what comes out.
        _ if function.starts_with("cublas") && function.ends_with("gemm") && index != Some(12) => {
            Argument::Reads
        }
        "copy" | "copy_n" => Argument::Writes,
        "cublasSetVector" if index == Some(2) => Argument::Reads,
        "cublasSetMatrix" if index == Some(3) => Argument::Reads,
        _ => Argument::Unknown,
    }
}

/// Functions of C and C++ that only hand on what they are given, or make something that has it.
const HANDING: &str = " \
    move forward ref cref addressof get begin end data as_const tie make_pair make_tuple make_unique make_shared \
    pair tuple launder ";
/// Others that leave memory of the device as it is.
const HARMLESS: &str = " \
    size empty fprintf_s printf_s perror fputs puts signal raise getopt getpid gethostname chdir remove \
    rename mkdir setlocale srand drand48 equal is_sorted all_of any_of none_of hash function ";

/// What runs a function once, beside what else is done: what a lambda does that is written there is read there.
pub(in crate::scene::draft) const THREADS: [&str; 4] = ["thread", "jthread", "async", "future"];

/// Whether what a function is given is a part of what it gives.
pub(in crate::scene::draft) fn hands_on(name: &str) -> bool {
    name.ends_with("_cast")
        || name.starts_with("make_")
        || is_in(HANDING, name)
        || is_of_values(name)
}

/// Whether a function of C or C++ is known to do nothing with memory of the device, and to call nothing that does.
pub(in crate::scene::draft) fn leaves_device(name: &str) -> bool {
    let of_others = ["MPI_", "nccl"].iter().any(|prefix| name.starts_with(prefix));
    !of_others && reads(name, false)
        || hands_on(name)
        || is_in(HARMLESS, name)
        || argument(name, None) != Argument::Unknown
}

/// Whether a function gives a place in the memory that it is given.
pub(in crate::scene::draft) fn gives_place(function: &str) -> bool {
    is_in(PLACES, function)
}

/// Whether a type, or a method, copies what it is given the address of.
pub(in crate::scene::draft) fn copies(name: &str) -> bool {
    is_in(COPYING, name)
}

/// Whether a type is known that is made of values.
pub(in crate::scene::draft) fn is_of_values(name: &str) -> bool {
    is_in(TYPES, name) || crate::element::Element::parse(name).is_some()
}

fn is_in(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|own| own == name)
}

/// Whether a function is for sure called so since it rounds a quotient up.
pub(in crate::scene::draft) fn is_rounded_up(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower.contains("div") && (lower.contains("up") || lower.contains("ceil"))
}
