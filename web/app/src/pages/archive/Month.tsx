import { useRead } from '../../api/useRead';
import { MonthDocument } from '../../gql/graphql';
import { PostList } from '../../parts/PostList';
import { monthName } from './monthName';

// Month lists the posts of a month.
export function Month({ month }: { month: string }) {
  function useList(after?: string) {
    const { data, ...reading } = useRead(MonthDocument, { month, after, isFirst: !after });
    return { list: data?.archive, ...reading };
  }
  return (
    <PostList
      what="month"
      title={`Posts of ${monthName(month)}`}
      useList={useList}
      none="This month has no posts."
    />
  );
}
