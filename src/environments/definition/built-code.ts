/** Digests of code, as tools/code-digests.ts makes them. */
export interface BuiltCode {
  /** Of the library's rooms that decide what an environment does. */
  readonly library: string;
  /** Of the bundled environments by id, with what they reach of those rooms. */
  readonly bundled: Readonly<Record<string, string>>;
}

/** Put in place by the build; missing where sources run as they are. */
declare const EDGEWISE_CODE: BuiltCode | undefined;

/** What this build was made of; null for sources that run as they are. */
export const BUILT_CODE: BuiltCode | null = typeof EDGEWISE_CODE === "object" ? EDGEWISE_CODE : null;
