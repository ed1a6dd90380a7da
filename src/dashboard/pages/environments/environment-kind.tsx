import type { KnownEnvironment } from "./known-environments.ts";

const MEANINGS: Readonly<Record<KnownEnvironment["kind"], string>> = {
  bundled: "The service was put together with it.",
  published: "A team published it; its code has an isolate of its own.",
  linked: "Its code runs in a process elsewhere, which the service calls.",
};
const NAMES: Readonly<Record<KnownEnvironment["kind"], string>> = { bundled: "Bundled", published: "Published", linked: "Linked" };

export const EnvironmentKind = ({ kind, isPublic }: Pick<KnownEnvironment, "kind" | "isPublic">) => (
  <span title={MEANINGS[kind]}>
    {NAMES[kind]}
    {kind === "published" ? <small>{isPublic ? "for everybody" : "for its team"}</small> : null}
  </span>
);
