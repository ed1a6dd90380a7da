import { parseUrl } from "../endpoints/addresses.ts";
import type { RunConfig } from "./run-config.ts";

/** What may be shown of an address whose path or query may be a secret: where it leads to. */
export const shownOrigin = (url: string): string => parseUrl(url)?.origin ?? "";

/** A config as it may be shown and stored where people read it: all of it but what may be secret in an address. */
export const shownConfig = (config: RunConfig): RunConfig =>
  config.heartbeat_url === undefined ? config : { ...config, heartbeat_url: shownOrigin(config.heartbeat_url) };
