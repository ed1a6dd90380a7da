import type { LinkList, ListedEnvironment } from "../../api/answers.ts";

/** More than that a search of the service finds, and no page lists. */
export const MOST_LISTED = 1_000;

/** What the lists of the service know of an environment, whichever of them has it. */
export interface KnownEnvironment {
  /** As a creation names it: `gsm8k`, `acme/my-sums`. */
  readonly reference: string;
  readonly kind: "bundled" | "published" | "linked";
  /** Of a published one: for its team alone, or for everybody. */
  readonly isPublic: boolean;
  readonly version: string;
  readonly description: string;
  /** When it was published or linked last; null of a bundled one. */
  readonly at: string | null;
}

/** `linked` and all others of one name: the link is what runs are made with. */
export function knownEnvironments(listed: readonly ListedEnvironment[], links: LinkList["data"]): readonly KnownEnvironment[] {
  const own = listed.map(
    ({ name, owner, bundled, visibility, latest_version, description, updated_at }): KnownEnvironment => ({
      reference: bundled ? name : `${owner.name}/${name}`,
      kind: bundled ? "bundled" : "published",
      ...{ isPublic: visibility === "PUBLIC", version: latest_version, description, at: updated_at },
    }),
  );
  // Those of commands come and go with their runs.
  const linked = links
    .filter(({ command }) => command === null)
    .map(
      ({ name, version, description, linked_at }): KnownEnvironment => ({
        reference: name,
        kind: "linked",
        isPublic: false,
        version,
        description,
        at: linked_at,
      }),
    );
  const names = new Set(linked.map(({ reference }) => reference));
  return [...linked, ...own.filter(({ reference }) => !names.has(reference))].sort((a, b) => (a.reference < b.reference ? -1 : 1));
}

/** Those that hold every word of what somebody looks for. */
export function foundEnvironments(all: readonly KnownEnvironment[], search: string): readonly KnownEnvironment[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return all.filter(({ reference, kind, description }) => {
    const text = `${reference} ${kind} ${description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
