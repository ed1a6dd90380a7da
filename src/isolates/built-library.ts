/** The library as isolates of environments have it. */
export interface IsolateLibrary {
  /** sha256 of the modules in hex. */
  readonly digest: string;
  /** Texts of ES modules by their names, `lib/index.js` among them. */
  readonly modules: Readonly<Record<string, string>>;
}

/** Put in by the build (tools/isolate-library.ts). */
declare const EDGEWISE_ISOLATE_LIBRARY: IsolateLibrary | undefined;

/** Null in sources that no build has looked at: such a Worker makes no isolates. */
export const BUILT_LIBRARY: IsolateLibrary | null = typeof EDGEWISE_ISOLATE_LIBRARY === "object" ? EDGEWISE_ISOLATE_LIBRARY : null;
