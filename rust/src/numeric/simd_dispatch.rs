//! SIMD dispatch: the same code compiled for any processor and for those with wider vectors.

/// Call a function from code compiled for wider vectors, where the processor has them. The function,
/// and all that is hot in it, must be always inlined, or it stays as it is. Nothing is added up in
/// another order, so results are the same bit for bit.
macro_rules! simd_dispatch {
    ($function:path, ($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?) => {{
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2,fma,popcnt,bmi1")]
            #[allow(clippy::too_many_arguments, reason = "those of the function")]
            fn wide($($argument: $type),*) $(-> $result)? {
                $function($($argument),*)
            }
            if is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("popcnt")
                && is_x86_feature_detected!("bmi1")
            {
                // SAFETY: the processor has just said that it knows these instructions.
                return unsafe { wide($($argument),*) };
            }
        }
        $function($($argument),*)
    }};
}
pub(crate) use simd_dispatch;
