/** What the main module of an isolate is made with (src/isolates/isolate-modules.ts). */
import "./quiet-console.ts";
import "./outward.ts";

export { isolateEntrypoint } from "./entry.ts";
