import{r as e}from"./rolldown-runtime-XKyaHtl9.js";import{_ as t,_r as n,c as r,d as i,g as a,gr as o,h as s,i as c,l,m as u,n as d,p as f,r as p,s as ee,t as m,u as h,v as te}from"./vendor-CyXOZh2e.js";function ne(e){return new Worker(`/playground/assets/json.worker-ky6CAS4V.js`,{type:`module`,name:e?.name})}function re(e){return new Worker(`/playground/assets/editor.worker-DEFT_Yb2.js`,{type:`module`,name:e?.name})}function ie(e){return new Worker(`/playground/assets/graphql.worker-CnQW6F4w.js`,{type:`module`,name:e?.name})}window.MonacoEnvironment={getWorker:(e,t)=>t===`json`?new ne:t===`graphql`?new ie:new re};var ae=c(),g=e(o(),1),_={answers:0,total:0},v=new Set;function y({result:e,...t}){let n=e.extensions?.cosmos,r=(e.errors??[]).map(e=>String(e.extensions?.code??``));_={last:{...t,codes:r,cosmos:n},answers:_.answers+(t.milliseconds===void 0?0:1),total:_.total+(n?.requestCharge??0)};for(let e of v)e()}function oe(e){return v.add(e),()=>v.delete(e)}var b=()=>(0,g.useSyncExternalStore)(oe,()=>_),x=e=>`${e.toLocaleString(`en`,{maximumFractionDigits:2})} RU`,S=class extends Error{},se=`The server does not answer. Is it still running?`,C=e=>e instanceof S?e.message:se;async function ce(e,t={}){let n=new AbortController,r=setTimeout(()=>n.abort(new DOMException(`silent`,`TimeoutError`)),2e4),i=t.signal?AbortSignal.any([n.signal,t.signal]):n.signal;try{return await fetch(e,{...t,signal:i})}finally{clearTimeout(r)}}function le({origin:e=location.origin,authorization:t,onRefused:n}){let r;async function i(){let{createClient:r}=await te(async()=>{let{createClient:e}=await import(`./client-i3JjxNFJ.js`);return{createClient:e}},[]),i,a,o=r({url:`${e.replace(`http`,`ws`)}/graphql`,connectionParams(){return a=t(),a?{Authorization:a}:void 0},retryAttempts:1/0,retryWait:de,shouldRetry:()=>!0,lazyCloseTimeout:3e3,keepAlive:12e3,on:{ping(e){e||(i=setTimeout(o.terminate,5e3))},pong:()=>clearTimeout(i),closed(e){clearTimeout(i);let{code:t,reason:r}=e;t===ue&&n(r,a)}}});return o}return function(e,t){let n=!1,a=()=>{},o={next:e=>n||t.next(e),error:e=>n||t.error(e),complete:()=>n||t.complete()};return r??=i(),r.then(t=>{n||(a=t.subscribe(e,o))},e=>{r=void 0,o.error(e)}),()=>{n=!0,a()}}}var ue=4403;async function de(e){let t=Math.min(1e3*2**e,3e4),n=new AbortController;await new Promise(e=>{setTimeout(e,t*(.5+Math.random()/2)),addEventListener(`online`,()=>e(),{signal:n.signal})}),n.abort()}function w(e){let t=new Map,n=new Set;function r(t,n){try{return t(e())}catch{return n?.(),null}}let i=e=>n.forEach(t=>t(e));addEventListener(`storage`,e=>{e.storageArea===r(e=>e)&&(e.key===null?t.clear():t.delete(e.key),i(e.key))}),addEventListener(`pageshow`,e=>e.persisted&&i(null));let a=e=>t.get(e)??r(t=>t.getItem(e));return{get:a,isThere:()=>r(e=>e!==null)===!0,read(e){try{return JSON.parse(a(e)??`null`)}catch{return null}},set(e,n){t.delete(e),n===null?r(t=>t.removeItem(e)):r(t=>t.setItem(e,n),()=>t.set(e,n)),i(e)},follow(e,t){let r=n=>(n===null||n===e)&&t();return n.add(r),()=>void n.delete(r)}}}var T=w(()=>localStorage);w(()=>sessionStorage);function fe(e){let t=new Set,n=()=>e,r=e=>(t.add(e),()=>void t.delete(e));return{get:n,set(n){e=n,t.forEach(e=>e())},follow:r,use:()=>pe(r,n)}}function pe(e,t){let[,n]=(0,g.useReducer)(e=>e+1,0),r=t(),i=(0,g.useRef)(r);return(0,g.useLayoutEffect)(()=>{i.current=r}),(0,g.useLayoutEffect)(()=>{let r=()=>{t()!==i.current&&n()};return r(),e(r)},[e]),r}var E=`cosmosblog.session`,D=()=>T.read(E),O=fe(D());T.follow(E,()=>O.set(D()));function me(e){T.set(ve,e.name),T.set(E,JSON.stringify(e))}var he=()=>T.set(E,null);function k(e){let t=D();e&&t?.token===e&&T.set(E,JSON.stringify({name:t.name}))}async function A(e,t){let n=e.trim().toLowerCase(),[r]=Object.entries(M()).find(([,e])=>e.toLowerCase()===n)??[n],i=await ge(r),a=await t(i,r);return _e(r,a),r!==n&&a?.toLowerCase()!==n?A(e,t):{account:{name:r,token:i},username:a}}async function ge(e){let{token:t,errors:n}=await(await ce(`/development/token`,{method:`POST`,headers:{"Content-Type":`application/json`},body:JSON.stringify({name:e})})).json();if(!t)throw new S(n?.[0]?.message??`This server signs nobody in by name.`);return t}var j=`cosmosblog.usernames`,M=()=>T.read(j)??{};function _e(e,t){let n=Object.entries(M()).filter(([n,r])=>n!==e&&r.toLowerCase()!==t?.toLowerCase());t&&n.push([e,t]),T.set(j,JSON.stringify(Object.fromEntries(n)))}var N=e=>M()[e]??e,ve=`cosmosblog.name`,ye=()=>N(T.get(ve)??`anna`),be=e=>e?.token?e:void 0,P=()=>be(O.get()),F=()=>be(O.use()),I=({token:e})=>`Bearer ${e}`;function xe(){let e=P();return{...e&&{authorization:I(e)},"x-cosmos-diagnostics":`1`}}async function L(e,t,n){let r=new Headers(t);return r.set(`accept`,`application/graphql-response+json, application/json`),r.set(`content-type`,`application/json`),fetch(e,{method:`POST`,headers:r,body:JSON.stringify(n)})}async function R(e,t={}){let n=P(),r=new Headers(xe());for(let[e,n]of Object.entries(t))r.set(e,String(n));let i=await L(`/graphql`,r,e);return i.status!==401||!n||r.get(`authorization`)!==I(n)?i:(k(n.token),R(e,t))}var Se=async(e,t)=>{let n=B(e),r={...e,operationName:n?n.name?.value:e.operationName};if(n?.operation===`subscription`)return we(r,t?.headers);let i=performance.now(),o,s;try{o=await(await R(r,t?.headers)).text(),s=JSON.parse(o)}catch{return{errors:[new a(se)]}}return e.operationName!==`IntrospectionQuery`&&y({result:s,milliseconds:performance.now()-i,bytes:z(o)}),s};async function Ce(e,t){let{errors:n,extensions:r}=await(await fetch(`/graphql`,{method:`POST`,headers:{accept:`application/json`,"content-type":`application/json`,"x-cosmos-diagnostics":`price`},body:JSON.stringify({...e,operationName:B(e)?.name?.value}),signal:t})).json(),i=r?.cosmos;if(i)return{ru:i.estimate,field:i.mostExpensive?.field};let a=n?.[0]?.extensions;if(a?.code===`COST_LIMIT_EXCEEDED`)return{ru:a.price,field:a.field,limit:a.limit}}var z=e=>new Blob([e]).size;function B({query:e,operationName:t}){try{let n=u(e).definitions.filter(e=>e.kind===s.OPERATION_DEFINITION);return n.length===1?n[0]:n.find(({name:e})=>e?.value===t)}catch{return}}function we(e,t={}){let n=P(),r=Object.entries(t).find(([e])=>e.toLowerCase()===`authorization`),i=r?String(r[1]):n&&I(n);return{subscribe({next:t,error:o,complete:s}){let c=e=>{y({result:e,bytes:z(JSON.stringify(e))}),t(e)},l=le({authorization:()=>i,onRefused(e){r||k(n?.token),l(),c({errors:[new a(e,{extensions:{code:`UNAUTHENTICATED`}})]}),s()}})(e,{next:c,complete:s,error:e=>Array.isArray(e)?c({errors:e}):o(e)});return{unsubscribe:l}}}}async function V(e,t){let n=await(await R({query:e,variables:t})).json();if(n.errors?.[0])throw new S(n.errors[0].message);return n.data}async function Te(e){let{data:t,errors:n}=await(await L(`/graphql`,{authorization:`Bearer ${e}`},{query:`{ viewer { username } }`})).json();if(n?.[0])throw new S(n[0].message);return t?.viewer?.username}async function Ee(){let{viewer:e,feed:t}=await V(`{ viewer { id } feed(first: 20) { nodes { id commentCount likeCount author { id } } } }`,{}),n=e=>Math.min(e.commentCount,e.likeCount),r=t?.nodes.toSorted((e,t)=>n(t)-n(e))[0];return{postId:r?.id,userId:e?.id??r?.author.id}}var H=n();function U({className:e,children:t}){return(0,H.jsx)(`svg`,{className:e,viewBox:`0 0 24 24`,fill:`none`,stroke:`currentColor`,strokeWidth:`1.75`,strokeLinecap:`round`,strokeLinejoin:`round`,"aria-hidden":`true`,children:t})}var De=()=>(0,H.jsxs)(U,{className:`graphiql-toolbar-icon`,children:[(0,H.jsx)(`circle`,{cx:`8`,cy:`15`,r:`4.5`}),(0,H.jsx)(`path`,{d:`m11.5 11.5 8-8M16 7l3 3`})]}),Oe=()=>(0,H.jsxs)(U,{children:[(0,H.jsx)(`rect`,{x:`3.5`,y:`3.5`,width:`17`,height:`17`,rx:`3`}),(0,H.jsx)(`path`,{d:`m8 9 3 3-3 3M13.5 15H17`})]}),W={title:`Request charges`,icon:()=>(0,H.jsxs)(U,{children:[(0,H.jsx)(`path`,{d:`M4 17.5a9 9 0 1 1 16 0M12 14.5l4-5`}),(0,H.jsx)(`circle`,{cx:`12`,cy:`14.5`,r:`1.2`})]}),content:ke};function ke(){let{last:e,answers:t,total:n}=b(),r=e?.cosmos;return(0,H.jsxs)(`section`,{className:`charges`,"aria-labelledby":`charges`,children:[(0,H.jsx)(`h2`,{id:`charges`,className:`panel-title`,children:`Request charges`}),!e&&(0,H.jsx)(`p`,{className:`panel-text`,children:`Run an operation to see what it costs in request units (RU).`}),e&&!r&&(0,H.jsx)(`p`,{className:`panel-text`,children:e.milliseconds===void 0?`Answers of subscriptions do not show their charges.`:`The last answer has no charges, because it was rejected before it was executed.`}),r&&(0,H.jsxs)(H.Fragment,{children:[(0,H.jsxs)(`dl`,{children:[(0,H.jsx)(G,{name:`RU charged`,value:String(r.requestCharge)}),(0,H.jsx)(G,{name:`RU estimated`,value:String(r.estimate)}),(0,H.jsx)(G,{name:`Requests`,value:String(r.requests.filter(e=>!e.cached).length)})]}),(0,H.jsx)(`div`,{className:`scroll`,tabIndex:0,role:`region`,"aria-label":`Requests to Cosmos DB`,children:(0,H.jsxs)(`table`,{children:[(0,H.jsx)(`thead`,{children:(0,H.jsxs)(`tr`,{children:[(0,H.jsx)(`th`,{scope:`col`,children:`Field and request`}),(0,H.jsx)(`th`,{scope:`col`,className:`number`,children:`RU`})]})}),(0,H.jsx)(`tbody`,{children:r.requests.map((e,t)=>(0,H.jsx)(Ae,{sent:e},t))})]})}),r.requests.some(e=>e.cached)&&(0,H.jsx)(`p`,{className:`panel-text`,children:`A cached read cost nothing, because nothing was written to its partition since it was last read.`})]}),t>0&&(0,H.jsxs)(`p`,{className:`panel-text`,children:[x(n),` in `,t,` `,t===1?`answer`:`answers`,` since this page was loaded.`]})]})}var G=({name:e,value:t})=>(0,H.jsxs)(`div`,{children:[(0,H.jsx)(`dt`,{children:e}),(0,H.jsx)(`dd`,{children:t})]});function Ae({sent:e}){let t=[e.partitionKey].flat();return(0,H.jsxs)(`tr`,{children:[(0,H.jsxs)(`td`,{children:[(0,H.jsx)(`code`,{children:e.path.join(`.`)||`–`}),(0,H.jsx)(`br`,{}),e.operation,` in `,(0,H.jsx)(`strong`,{children:e.container}),e.status>=400&&`, status ${e.status}`,(0,H.jsx)(`br`,{}),(0,H.jsx)(`code`,{className:`key`,title:t.join(`, `),children:t.length>1?`${t.length} partitions`:t[0]})]}),(0,H.jsxs)(`td`,{className:`number`,children:[e.cached?`cached`:e.requestCharge.toFixed(2),e.savedCharge&&(0,H.jsxs)(`small`,{children:[`saved `,e.savedCharge.toFixed(2)]})]})]})}var je=Object.assign({"./examples/archive.graphql":`# The months that have posts, and the
# newest posts of each: one query in
# one partition for each list.
query Archive {
  archiveMonths(first: 3) {
    month
    postCount
    posts(first: 3) {
      nodes {
        title
        creationDate
      }
    }
  }
}
`,"./examples/comment-added.graphql":`# The new comments of a post.
# Write one in another window.
subscription CommentAdded($postId: ID!) {
  commentAdded(postId: $postId) {
    cursor
    node {
      content
      author {
        username
      }
      creationDate
    }
  }
}
`,"./examples/comments.graphql":`# Q4: a post’s comments. One query
# in one partition, and a point
# read that checks the post.
query Comments($postId: ID!) {
  post(id: $postId) {
    title
    comments(first: 20, order: NEWEST_FIRST) {
      totalCount
      nodes {
        id
        content
        author {
          username
        }
        creationDate
      }
    }
  }
}
`,"./examples/create-comment.graphql":`# C3: comment on a post. A stored
# procedure also counts the comment.
mutation CreateComment($postId: ID!, $content: String!) {
  createComment(input: { postId: $postId, content: $content }) {
    comment {
      id
      content
    }
    post {
      id
      commentCount
    }
  }
}
`,"./examples/create-post.graphql":`# C2: publish a post. Its copies
# in lists follow within moments.
mutation CreatePost($title: String!, $content: String!, $tags: [String!]) {
  createPost(input: { title: $title, content: $content, tags: $tags }) {
    post {
      id
      title
      tags {
        name
      }
      version
    }
  }
}
`,"./examples/create-user.graphql":`# C1: create a user. To sign in,
# use the key in the toolbar.
mutation CreateUser($username: String!) {
  createUser(input: { username: $username }) {
    user {
      id
      username
      creationDate
    }
  }
}
`,"./examples/feed.graphql":`# Q6: the most recent posts, with
# their newest comments. One query
# in one partition.
query Feed {
  feed(first: 20) {
    nodes {
      id
      title
      excerpt
      author {
        id
        username
      }
      commentCount
      recentComments {
        id
        excerpt
        author {
          username
        }
      }
      likeCount
      creationDate
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
`,"./examples/like-post.graphql":`# C4: like a post. A stored
# procedure also counts the like.
mutation LikePost($postId: ID!) {
  likePost(input: { postId: $postId }) {
    like {
      id
    }
    post {
      id
      likeCount
      viewerHasLiked
    }
  }
}
`,"./examples/likes.graphql":`# Q5: a post’s likes. One query
# in one partition, and a point
# read that checks the post.
query Likes($postId: ID!) {
  post(id: $postId) {
    title
    likes(first: 20) {
      totalCount
      nodes {
        id
        user {
          username
        }
        creationDate
      }
    }
  }
}
`,"./examples/post-changed.graphql":`# A post, now and when it changes.
# Like it in another window.
subscription PostChanged($postId: ID!) {
  postChanged(id: $postId) {
    title
    likeCount
    commentCount
    recentComments {
      excerpt
      author {
        username
      }
    }
  }
}
`,"./examples/post-published.graphql":`# The new posts of the feed.
# Publish one in another window.
subscription PostPublished {
  postPublished {
    cursor
    node {
      title
      author {
        username
      }
      creationDate
    }
  }
}
`,"./examples/post.graphql":`# Q2: a post with its author’s
# name and counts. One point read.
query Post($postId: ID!) {
  post(id: $postId) {
    id
    title
    content
    author {
      id
      username
    }
    commentCount
    likeCount
    creationDate
  }
}
`,"./examples/tags.graphql":`# The most used tags: one query. Their
# counts: one batch. The posts of each:
# one query in one partition.
query Tags {
  tags(first: 3) {
    name
    postCount
    posts(first: 3) {
      nodes {
        title
        author {
          username
        }
        creationDate
      }
    }
  }
}
`,"./examples/user-posts.graphql":`# Q3: a user’s posts. One query in
# one partition, and a point read
# that checks the user.
query UserPosts($userId: ID!) {
  user(id: $userId) {
    username
    posts(first: 20) {
      nodes {
        id
        title
        excerpt
        commentCount
        likeCount
        creationDate
      }
    }
  }
}
`,"./examples/user.graphql":`# Q1: a user. One point read.
query User($userId: ID!) {
  user(id: $userId) {
    id
    username
    creationDate
    postCount
  }
}
`}),K=(e,t,n,r,i)=>({code:e,title:t,articleRU:n,query:je[`./examples/${r}.graphql`],variables:i?q(i):``}),q=e=>JSON.stringify(e,null,2),J=[K(`Q6`,`Recent posts`,16.97,`feed`),K(`C1`,`Create a user`,5.71,`create-user`,{username:``}),K(`Q1`,`A user`,1,`user`,{userId:``}),K(`C2`,`Publish a post`,8.76,`create-post`,{title:`One partition is enough`,content:`Every list of this blog is one query in one partition.`,tags:[`data-modelling`]}),K(`Q2`,`A post`,1,`post`,{postId:``}),K(`Q3`,`A user’s posts`,6.46,`user-posts`,{userId:``}),K(`C3`,`Comment on a post`,15.27,`create-comment`,{postId:``,content:`Well said.`}),K(`Q4`,`A post’s comments`,7.72,`comments`,{postId:``}),K(`C4`,`Like a post`,14.67,`like-post`,{postId:``}),K(`Q5`,`A post’s likes`,8.92,`likes`,{postId:``}),K(`T1`,`Tags and their posts`,void 0,`tags`),K(`T2`,`The archive`,void 0,`archive`),K(`S1`,`Watch a post`,void 0,`post-changed`,{postId:``}),K(`S2`,`Watch for comments`,void 0,`comment-added`,{postId:``}),K(`S3`,`Watch the feed`,void 0,`post-published`)];function Y(e){let t=X(e);return[`postId`,`userId`,`username`].filter(e=>t?.[e]===``)}function Me(e,t){let n=X(e);if(!n)return e;for(let r of Y(e))n[r]=t[r]??``;return q(n)}function X(e){try{let t=JSON.parse(e);return typeof t==`object`&&t?t:void 0}catch{return}}var Z=()=>matchMedia(`(max-width: 48rem)`).matches,Ne=e=>e.tabs[e.activeTabIndex],Pe=e=>Ne(e)?.id,Fe=new Set,Q=e=>Fe.has(e)||J.some(t=>t.variables===e);function Ie({query:e,variables:t,headers:n,response:r}){return n?.trim()||r?!1:Q(t??``)&&(!e?.trim()||J.some(t=>t.query===e))}function Le(){let{addTab:e,changeTab:t,stop:n,updateActiveTabValues:r}=i(),a=h(e=>e.tabs),o=h(e=>e.activeTabIndex),s=h(e=>e.isFetching||e.subscription!==null),c=h(e=>e.queryEditor),l=h(e=>e.variableEditor),u=h(e=>e.headerEditor);return{isActive:({query:e})=>a[o]?.query===e,open:i=>{let d={query:c?.getValue()??null,variables:l?.getValue()??null,headers:u?.getValue()??null};r(d);let f={...a[o],...d},p=a.with(o,f).findIndex(({query:e})=>e===i.query);if(p!==o){if(p>=0){if(t(p),!Q(a[p].variables??``))return}else(s||!Ie(f))&&(n(),e());c?.setValue(i.query),l?.setValue(i.variables),r({query:i.query,variables:i.variables,operationName:null})}}}}function Re(){ze();let e=h(Pe);(0,g.useEffect)(()=>{document.querySelector(`.graphiql-tab-active`)?.scrollIntoView({block:`nearest`,inline:`nearest`})},[e])}function ze(){let e=F(),t=h(e=>e.variableEditor),n=h(Pe),r=h(e=>e.isFetching),i=h(e=>e.tabs[e.activeTabIndex]?.query);(0,g.useEffect)(()=>{let n=t?.getValue()??``,i=Y(n);if(!t||r||i.length===0)return;let a=!0;return(i.some(e=>e!==`username`)?Ee():Promise.resolve({})).then(r=>{let i=Me(n,{...r,username:e&&N(e.name)});a&&t.getValue()===n&&i!==n&&(Q(n)&&Fe.add(i),t.setValue(i))},()=>{}),()=>{a=!1}},[e,t,n,r,i])}var Be={title:`Examples`,icon:Oe,content:Ve};function Ve(){let{setVisiblePlugin:e}=i(),{isActive:t,open:n}=Le(),r=t=>{n(t),Z()&&e(null)};return(0,H.jsxs)(`section`,{className:`examples`,"aria-labelledby":`examples`,children:[(0,H.jsx)(`h2`,{id:`examples`,className:`panel-title`,children:`Examples`}),(0,H.jsxs)(`p`,{className:`panel-text`,children:[`The ten operations of the article that this blog implements. C are commands and need a`,` `,(0,H.jsx)(`span`,{className:`nowrap`,children:`sign-in`}),`, Q are queries. The charge is what the article measured. T are lists, and S subscriptions, that the article does not have.`]}),(0,H.jsx)(`ol`,{children:J.map(e=>(0,H.jsx)(`li`,{children:(0,H.jsxs)(`button`,{type:`button`,onClick:()=>r(e),"aria-current":t(e)?`true`:void 0,children:[(0,H.jsx)(`span`,{className:`code`,children:e.code}),(0,H.jsx)(`span`,{className:`title`,children:e.title}),(0,H.jsx)(`span`,{className:`charge`,children:e.articleRU&&x(e.articleRU)})]})},e.code))}),(0,H.jsxs)(`p`,{className:`panel-text`,children:[`An empty blog has nothing to read: sign in, and begin with C1. `,(0,H.jsx)(`code`,{children:`cosmosblog seed --users 20`}),` writes sample data.`]})]})}var He=e(l(),1),Ue=[`budget`,`cosmos`,`session`];function We(){let e=h(e=>e.responseEditor);(0,g.useEffect)(()=>{let t=e?.onDidChangeModelContent(()=>Ge(e));return()=>t?.dispose()},[e])}async function Ge(e){let t=await e.getContribution(`editor.contrib.folding`)?.getFoldingModel(),n=Ke(e.getModel()?.getLinesContent()??[]),r=n.map(e=>t?.getRegionAtLine(e));t?.toggleCollapseState(r.filter(e=>e&&!e.isCollapsed&&n.includes(e.startLineNumber)))}function Ke(e){let t=e.lastIndexOf(`  "extensions": {`);if(t<0)return[];let n=[];for(let r=t+1;r<e.length&&e[r].startsWith(`    `);r++){let t=e[r].match(/^ {4}"(\w+)":/)?.[1];t&&n.push({name:t,line:r+1})}let r=n.filter(({name:e})=>Ue.includes(e));return r.length===n.length?[t+1]:r.map(({line:e})=>e)}function qe(){let e=F(),[t,n]=(0,g.useState)(!1);return Xe(()=>n(!0)),(0,H.jsxs)(H.Fragment,{children:[(0,H.jsx)(ee,{label:e?`Signed in as ${N(e.name)}`:`Sign in with a development token`,className:e&&`signed-in`,onClick:()=>n(!0),children:(0,H.jsx)(De,{})}),(0,H.jsxs)(p,{open:t,onOpenChange:n,children:[(0,H.jsxs)(`div`,{className:`graphiql-dialog-header`,children:[(0,H.jsx)(p.Title,{className:`graphiql-dialog-title`,children:`Sign in`}),(0,H.jsx)(p.Close,{})]}),(0,H.jsx)(Je,{onDone:()=>n(!1)})]})]})}function Je({onDone:e}){let t=F(),n=(0,g.useId)(),[i,a]=(0,g.useState)(ye),[o,s]=(0,g.useState)(``);return(0,H.jsxs)(`form`,{className:`sign-in`,onSubmit:async t=>{t.preventDefault();try{me((await A(i,Te)).account),e()}catch(e){s(C(e))}},children:[(0,H.jsx)(p.Description,{children:`In development, the server signs in any name. The token goes with the operations of all tabs, unless a tab’s headers have another.`}),(0,H.jsx)(`label`,{htmlFor:n,children:`Name`}),(0,H.jsx)(`input`,{id:n,value:i,onChange:e=>a(e.target.value),required:!0,autoFocus:!0,maxLength:255,autoComplete:`username`,spellCheck:!1,"aria-invalid":o!==``,"aria-describedby":`${n}-fault`}),(0,H.jsx)(`p`,{id:`${n}-fault`,className:`fault`,role:`alert`,children:o}),(0,H.jsxs)(`div`,{className:`buttons`,children:[t&&(0,H.jsx)(r,{type:`button`,onClick:()=>(he(),e()),children:`Sign out`}),(0,H.jsx)(r,{type:`submit`,className:`primary`,children:`Sign in`})]})]})}var $=new EventTarget,Ye=()=>$.dispatchEvent(new Event(`sign-in`));function Xe(e){(0,g.useEffect)(()=>($.addEventListener(`sign-in`,e),()=>$.removeEventListener(`sign-in`,e)),[e])}function Ze(){Re(),We();let e=Qe(),{last:t}=b();return t?(0,H.jsxs)(`div`,{className:`footer`,role:`status`,children:[t.cosmos&&(0,H.jsx)(r,{type:`button`,className:`total`,onClick:e,children:x(t.cosmos.requestCharge)}),t.cosmos&&(0,H.jsx)(`span`,{children:$e(t.cosmos.requests)}),(0,H.jsx)(`span`,{children:t.milliseconds===void 0?`live`:`${Math.round(t.milliseconds)} ms`}),(0,H.jsx)(`span`,{children:et(t.bytes)}),(0,H.jsx)(tt,{codes:t.codes})]}):(0,H.jsx)(`p`,{className:`footer`,children:`The charge of each answer is shown here.`})}function Qe(){let{setVisiblePlugin:e}=i();return()=>{(0,He.flushSync)(()=>e(null)),document.querySelector(`[aria-label="Show ${W.title}"]`).click()}}function $e(e){let t=e.filter(e=>!e.cached).length,n=e.length-t;if(n>0&&t===0)return`${n} cached`;let r=`${t} ${t===1?`request`:`requests`}`;return n>0?`${r}, ${n} cached`:r}var et=e=>e<1e3?`${e} bytes`:`${(e/1e3).toFixed(1)} kB`;function tt({codes:e}){let t=F(),{run:n}=i(),[a,o]=(0,g.useState)(``);return e.includes(`UNAUTHENTICATED`)?(0,H.jsx)(r,{type:`button`,className:`next`,onClick:Ye,children:`Sign in`}):!e.includes(`USER_REQUIRED`)||!t?null:(0,H.jsxs)(H.Fragment,{children:[(0,H.jsxs)(r,{type:`button`,className:`next`,onClick:async()=>{try{await V(`mutation ($username: String!) { createUser(input: { username: $username }) { user { id } } }`,{username:t.name}),n()}catch(e){o(C(e))}},children:[`Create the user `,t.name]}),a&&(0,H.jsx)(`span`,{className:`fault`,children:a})]})}function nt(){let e=it(),[t,n]=(0,g.useState)(null);if((0,g.useEffect)(()=>n(document.querySelector(`.graphiql-editor-tools`)),[]),!t||!e)return null;let{limit:r,field:i}=e;return(0,He.createPortal)((0,H.jsxs)(`span`,{className:r?`price too-high`:`price`,title:i&&`${i} costs most.`,children:[(0,H.jsxs)(`span`,{children:[`price `,x(e.ru)]}),r&&(0,H.jsxs)(`span`,{children:[`, limit `,x(r)]})]}),t)}var rt=400;function it(){let{id:e,query:t,variables:n}=h(Ne)??{},r=h(e=>e.operationName),i=h(e=>e.schema),[a,o]=(0,g.useState)({}),s=a.tab!==e;return(0,g.useEffect)(()=>{if(!i)return;let a=new AbortController,c=setTimeout(async()=>{let s=at(i,t??``,n??``,r),c=s&&await Ce(s,a.signal).catch(()=>void 0);a.signal.aborted||o({tab:e,price:c})},s?0:rt);return()=>{clearTimeout(c),a.abort()}},[e,t,n,r,i]),s?void 0:a.price}function at(e,n,r,i){try{let a={query:n,variables:t(r),operationName:i};return f(e,u(n)).length>0?void 0:a}catch{return}}var{query:ot,variables:st}=J[0],ct=[{query:ot,variables:st}],lt=[d,Be,W];(0,ae.createRoot)(document.getElementById(`root`)).render((0,H.jsxs)(H.Fragment,{children:[(0,H.jsx)(`h1`,{className:`hidden`,children:`GraphiQL of cosmosblog`}),(0,H.jsxs)(m,{fetcher:Se,plugins:lt,visiblePlugin:Z()?void 0:Be,defaultTabs:ct,shouldPersistHeaders:!1,showPersistHeadersSettings:!1,defaultEditorToolsVisibility:`variables`,schemaDescription:!0,children:[(0,H.jsx)(m.Logo,{children:(0,H.jsxs)(`a`,{className:`logo`,href:`/`,children:[(0,H.jsx)(`img`,{src:`/playground/icon.svg`,alt:``,width:`22`,height:`22`}),`cosmosblog`]})}),(0,H.jsx)(m.Toolbar,{children:({prettify:e,copy:t,merge:n})=>(0,H.jsxs)(H.Fragment,{children:[(0,H.jsx)(qe,{}),(0,H.jsx)(nt,{}),e,n,t]})}),(0,H.jsx)(m.Footer,{children:(0,H.jsx)(Ze,{})})]})]}));