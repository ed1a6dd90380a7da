/** Global set-up of the end-to-end tests: they run `dist/`, so it has to be what the sources say. */
export { buildPackage as setup } from "../../../tools/build.ts";
