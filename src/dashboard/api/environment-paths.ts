/** Where the API has an environment that a creation would name so; `version` null = all of its versions. */
export function hubPath(reference: string, version: string | null): string {
  const [owner = "", name] = reference.split("/");
  const path = (name === undefined ? [BUNDLED_OWNER, owner] : [owner, name]).map(encodeURIComponent).join("/");
  return `/environmentshub/${path}/${version === null ? "versions" : `@${encodeURIComponent(version)}`}`;
}

/** Where the API has a link of that name. */
export const linkPath = (name: string): string => `/environments/linked/${encodeURIComponent(name.replace("/", "~"))}`;

/** Whose the environments are that the service was put together with. */
const BUNDLED_OWNER = "edgewise";
