/** Parts of `owner/name@version`; the owner is "" for a bare name. */
export interface EnvironmentName {
  readonly owner: string;
  readonly name: string;
}

/** An id as the list compares it: without its version, owner and name apart (`gsm8k` and `owner/gsm8k` both match). */
export function environmentName(id: string): EnvironmentName {
  const [path = ""] = id.split("@");
  const slash = path.lastIndexOf("/");
  return { owner: path.slice(0, Math.max(0, slash)), name: path.slice(slash + 1) };
}
