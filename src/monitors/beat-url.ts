/**
 * The address by which a job says that it is alive. Its first part names the monitor's object, so that no beat looks anything up; the second is what only the
 * job knows. Both are drawn, and neither says whose monitor it is or what it is called.
 */
export interface BeatKey {
  /** Name of the monitor's object: 32 hex characters. */
  readonly id: string;
  readonly secret: string;
}

export const BEAT_PATH = "/beat";
const KEY = /^\/beat\/([0-9a-f]{32})\/([A-Za-z0-9_-]{43})\/?$/;

export const isMonitorId = (text: string): boolean => /^[0-9a-f]{32}$/.test(text);

export const beatPath = ({ id, secret }: BeatKey): string => `${BEAT_PATH}/${id}/${secret}`;

/** What an address calls, if it looks like one of these, of whichever service; null otherwise. */
export function beatKeyIn(url: string): BeatKey | null {
  const [, id, secret] = KEY.exec(URL.canParse(url) ? new URL(url).pathname : "") ?? [];
  return id === undefined || secret === undefined ? null : { id, secret };
}
