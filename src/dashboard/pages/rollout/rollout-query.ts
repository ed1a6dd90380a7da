/** What the address of a rollout says of how it is looked at; the rest of it is the grid's (address/samples-view.ts), and rides along. */
export interface RolloutQuery {
  readonly tab: RolloutTab;
  /** Texts as they are written, in place of what their Markdown means. */
  readonly raw: boolean;
}

export const ROLLOUT_TABS = ["messages", "scores", "usage", "info", "json"] as const;
export type RolloutTab = (typeof ROLLOUT_TABS)[number];

type Given = Readonly<Record<string, string | undefined>>;

/** What an address means; whatever it says wrong is as if it did not say it. */
export const rolloutQueryOf = ({ tab, raw }: Given): RolloutQuery => ({ tab: ROLLOUT_TABS.find((each) => each === tab) ?? "messages", raw: raw === "1" });

/** As an address says it, with all else that it said. `team` is the link's own business. */
export function rolloutQuery(given: Given, { tab, raw }: RolloutQuery): Readonly<Record<string, string>> {
  const { tab: _tab, raw: _raw, team: _team, ...rest } = given;
  const others = Object.fromEntries(Object.entries(rest).filter((entry): entry is [string, string] => entry[1] !== undefined));
  return { ...others, ...(tab === "messages" ? {} : { tab }), ...(raw ? { raw: "1" } : {}) };
}

/** The number of the message that `#m12` names; null where it names none. */
export function messageInHash(hash: string): number | null {
  const [, number] = /^#m(\d{1,9})$/.exec(hash) ?? [];
  return number === undefined ? null : Number(number);
}

const PLACE = /^\d{1,9}$/;

/** A part of the address that counts examples or rollouts; null for any other text. */
export const placePart = (text: string | undefined): number | null => (text !== undefined && PLACE.test(text) ? Number(text) : null);
