import { singleLine } from "../../../report/text/printable.ts";
import type { Whoami } from "../../api/settings-answers.ts";
import { Facts } from "../../design/list/facts.tsx";
import { Part } from "../../design/list/part.tsx";
import { Looked } from "../../design/looked.tsx";
import { localText } from "../../design/times.ts";
import { useLook } from "../../live/use-look.ts";

const VIAS: Readonly<Record<Whoami["edgewise"]["via"], string>> = {
  local: "on this machine, where no token is set",
  owner: "the token of the service's owner",
  token: "a token",
  session: "a browser that is signed in",
  access: "Cloudflare Access",
};

/** Who looks, and what they may do. */
export function MeTab() {
  const look = useLook<{ readonly data: Whoami }>("/user/whoami");
  return (
    <Part title="Who am I">
      <Looked look={look} what="this is as it was">
        {({ data: { name, edgewise } }) => (
          <Facts
            facts={[
              ["User", singleLine(name)],
              ["Known by", VIAS[edgewise.via]],
              ["Token", edgewise.token],
              ["May", edgewise.owner ? "everything: the owner of the service" : edgewise.scopes.join(", ") || "nothing"],
              ["Teams", singleLine(edgewise.teams.join(", "))],
              ["Until", edgewise.expires_at === null ? "without end" : localText(edgewise.expires_at)],
              ["Service", `edgewise ${singleLine(edgewise.version)}${edgewise.local ? ", on this machine" : ""}`],
            ]}
          />
        )}
      </Looked>
    </Part>
  );
}
