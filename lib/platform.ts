/** The system that this runs on. For tests of systems without a native part: a change counts for what comes after it. */
export const platform: { name: string } = { name: process.platform };

export function hasNativePart(): boolean {
  return platform.name === 'linux' || platform.name === 'darwin';
}
