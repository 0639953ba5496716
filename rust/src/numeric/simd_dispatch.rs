//! SIMD dispatch: the same code, compiled for any processor and for those with wider vectors.

/// Call a function, compiled for wider vectors if the processor has them. The function, and all hot
/// functions that it calls, must be `#[inline(always)]`; others are not compiled again. The order
/// of summation does not change, so results are the same bit for bit.
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
                // SAFETY: the processor has these instructions, as was just checked.
                return unsafe { wide($($argument),*) };
            }
        }
        $function($($argument),*)
    }};
}
pub(crate) use simd_dispatch;
