/** What the package in `python/` works with. */

/** Of Python; that of the oldest library. */
export const PYTHON_FROM = [3, 10] as const;

/** Releases of verifiers whose environments have `load_environment` and are played by `run_group`; 0.4 dropped them. */
export const VERIFIERS_FROM = "0.1.10";
export const MOST_VERIFIERS = "0.3";

/** By release numbers alone: what comes before a release is as the release. */
export function supportOf(version: string): "supported" | "older" | "newer" {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.+]|(?=[a-z])/).map((part) => Number.parseInt(part, 10) || 0);
  if (major > 0 || minor > 3) return "newer";
  return minor < 1 || (minor === 1 && patch < 10) ? "older" : "supported";
}
