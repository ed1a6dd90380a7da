import type { AnyComponent } from "preact";
import lazy from "preact-iso/lazy";

/** A page whose script is loaded when it is opened. One that cannot be had is a page with a fault, which is said in its place: the router would wait for it without an end. */
export const loadedPage = (load: () => Promise<AnyComponent>): AnyComponent =>
  lazy(() =>
    load().catch((error: unknown) => () => {
      throw error;
    }),
  );
