import { Component, type ComponentChildren } from "preact";
import { useLocation } from "preact-iso/router";
import { Notice } from "../design/notice.tsx";

/** What stands in place of a page that cannot be drawn: its script is gone with an older version of the service, or it has a fault. The frame stays, and leads to other pages. */
export function PageFault({ children }: { readonly children: ComponentChildren }) {
  const { url } = useLocation();
  return <FaultOf url={url}>{children}</FaultOf>;
}

interface FaultOfProps {
  readonly url: string;
  readonly children: ComponentChildren;
}

class FaultOf extends Component<FaultOfProps, { readonly failed: boolean }> {
  override state = { failed: false };

  static override getDerivedStateFromError(error: unknown): { readonly failed: boolean } {
    console.error(error);
    return { failed: true };
  }

  override componentDidUpdate(before: FaultOfProps): void {
    // The fault is of the page that was left.
    if (this.state.failed && before.url !== this.props.url) this.setState({ failed: false });
  }

  override render({ children }: FaultOfProps, { failed }: { readonly failed: boolean }) {
    if (!failed) return children;
    return (
      <Notice role="alert" tone="bad" title="This page could not be drawn.">
        <p>The service may have been updated since it was opened.</p>
        <p>
          <button type="button" onClick={() => location.reload()}>
            Load it again
          </button>
        </p>
      </Notice>
    );
  }
}
