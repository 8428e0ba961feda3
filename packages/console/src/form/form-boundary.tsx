// An error boundary around the form: a schema that it cannot render must not break the page.
import { Component, type ReactNode } from "react";

interface Props {
  readonly children: ReactNode;
  readonly onBroken: (error: unknown) => void;
}

export class FormBoundary extends Component<Props, { readonly isBroken: boolean }> {
  override state = { isBroken: false };

  static getDerivedStateFromError() {
    return { isBroken: true };
  }

  override componentDidCatch(error: unknown) {
    this.props.onBroken(error);
  }

  override render() {
    return this.state.isBroken ? null : this.props.children;
  }
}
