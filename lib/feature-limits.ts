/**
 * For tests of older kernels: sessions started after a change take the host to offer no more than this. Can only take
 * away, and what is then missing is treated as on a real host without it.
 */
export const featureLimits: { landlockAbi?: number; seccomp?: boolean; notify?: boolean; cgroup?: boolean } = {};
