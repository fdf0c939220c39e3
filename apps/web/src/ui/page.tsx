import type { ComponentChildren } from 'preact';
import { useContext, useId, useLayoutEffect } from 'preact/hooks';
import { InFrame } from '../shell/in-frame.ts';
import s from './page.module.css';

interface PageProps {
  title: string;
  actions?: ComponentChildren;
  intro?: ComponentChildren;
  children: ComponentChildren;
}

/** The content of a page: its heading, which also names the tab of the browser, and what stands below. */
export function Page({ title, actions, intro, children }: PageProps) {
  const isInFrame = useContext(InFrame);
  useLayoutEffect(() => {
    document.title = `${title} · Portal`;
  }, [title]);
  const content = (
    <div class={s.page}>
      <Head actions={actions}>
        <h1 dir="auto">{title}</h1>
      </Head>
      {intro && <div class={s.intro}>{intro}</div>}
      {children}
    </div>
  );
  if (isInFrame) return content;
  return (
    <main id="main" tabIndex={-1}>
      {content}
    </main>
  );
}

interface PartProps {
  title?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
  /** Level of the heading. */
  level?: 2 | 3 | undefined;
}

/** A framed part of a page. */
export const Card = (props: PartProps) => <Part {...props} class={s.card} />;

/** A part of a page without a frame. */
export const Section = (props: PartProps) => <Part {...props} class={s.section} />;

function Part({ title, actions, children, level = 2, class: name }: PartProps & { class: string | undefined }) {
  const id = useId();
  const Heading = level === 2 ? 'h2' : 'h3';
  return (
    <section class={name} aria-labelledby={title ? id : undefined}>
      <Head actions={actions}>
        {title && (
          <Heading id={id} dir="auto">
            {title}
          </Heading>
        )}
      </Head>
      {children}
    </section>
  );
}

function Head({ actions, children }: { actions: ComponentChildren; children: ComponentChildren }) {
  if (!children && !actions) return null;
  return (
    <div class={s.head}>
      {children}
      {actions && <div class={s.actions}>{actions}</div>}
    </div>
  );
}
