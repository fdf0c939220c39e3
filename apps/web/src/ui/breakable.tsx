import { Fragment } from 'preact';

/** A name without blanks, such as an address or the name of a file. Where it does not fit, it breaks after one of its parts. */
export const Breakable = ({ children }: { children: string }) => (
  <>
    {children.split(/(?<=[@._/-])/).map((part, index) => (
      <Fragment key={index}>
        {index > 0 && <wbr />}
        {part}
      </Fragment>
    ))}
  </>
);
