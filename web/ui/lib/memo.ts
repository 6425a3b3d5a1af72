// memo draws a component again only when its properties differ; the signals that it reads draw it
// whenever they change.

import { Component, h, type ComponentType } from "preact";

export function memo<P extends object>(view: (props: P) => unknown, same: (a: P, b: P) => boolean): ComponentType<P> {
  return class extends Component<P> {
    shouldComponentUpdate(next: P): boolean {
      return !same(this.props as P, next);
    }
    render() {
      return h(view as ComponentType<P>, this.props as P);
    }
  };
}
