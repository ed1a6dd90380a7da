import { useDashboard } from "../context.ts";
import { forgetDrafts } from "../drafts.ts";

/** Access ends what it began, at an address of its own on every host. */
export function SignOut() {
  const { csrf, via } = useDashboard().viewer;
  if (via === "") return null;
  const forget = (): void => forgetDrafts(sessionStorage);
  return via === "access" ? (
    <form action="/cdn-cgi/access/logout" onSubmit={forget}>
      <button type="submit" class="quiet">
        Sign out
      </button>
    </form>
  ) : (
    <form method="post" action="/sign-out" onSubmit={forget}>
      <input type="hidden" name="csrf" value={csrf} />
      <button type="submit" class="quiet">
        Sign out
      </button>
    </form>
  );
}
