import{r as e}from"./rolldown-runtime-XKyaHtl9.js";import{_ as t,_r as n,c as r,d as i,g as a,gr as o,h as s,i as c,l,m as u,n as d,p as f,r as p,s as m,t as h,u as g,v as ee}from"./vendor-CyXOZh2e.js";function te(e){return new Worker(`/playground/assets/json.worker-ky6CAS4V.js`,{type:`module`,name:e?.name})}function ne(e){return new Worker(`/playground/assets/editor.worker-DEFT_Yb2.js`,{type:`module`,name:e?.name})}function re(e){return new Worker(`/playground/assets/graphql.worker-CnQW6F4w.js`,{type:`module`,name:e?.name})}window.MonacoEnvironment={getWorker:(e,t)=>t===`json`?new te:t===`graphql`?new re:new ne};var ie=c(),_=e(o(),1),v={answers:0,total:0},y=new Set;function ae({result:e,...t}){let n=e.extensions?.cosmos,r=(e.errors??[]).map(e=>String(e.extensions?.code??``));v={last:{...t,codes:r,cosmos:n},answers:v.answers+(t.milliseconds===void 0?0:1),total:v.total+(n?.requestCharge??0)};for(let e of y)e()}function oe(e){return y.add(e),()=>y.delete(e)}var b=()=>(0,_.useSyncExternalStore)(oe,()=>v),x=e=>`${e.toLocaleString(`en`,{maximumFractionDigits:2})} RU`,S=class extends Error{},C=`The server does not answer. Is it still running?`,w=e=>e instanceof S?e.message:C;async function se(e,t={}){let n=new AbortController,r=setTimeout(()=>n.abort(new DOMException(`silent`,`TimeoutError`)),2e4),i=t.signal?AbortSignal.any([n.signal,t.signal]):n.signal;try{return await fetch(e,{...t,signal:i})}finally{clearTimeout(r)}}function ce({origin:e=location.origin,authorization:t,onRefused:n}){let r;async function i(){let{createClient:r}=await ee(async()=>{let{createClient:e}=await import(`./client-i3JjxNFJ.js`);return{createClient:e}},[]),i,a,o=r({url:`${e.replace(`http`,`ws`)}/graphql`,connectionParams(){return a=t(),a?{Authorization:a}:void 0},retryAttempts:1/0,retryWait:ue,shouldRetry:()=>!0,lazyCloseTimeout:3e3,keepAlive:12e3,on:{ping(e){e||(i=setTimeout(o.terminate,5e3))},pong:()=>clearTimeout(i),closed(e){clearTimeout(i);let{code:t,reason:r}=e;t===le&&n(r,a)}}});return o}return function(e,t){let n=!1,a=()=>{},o={next:e=>n||t.next(e),error:e=>n||t.error(e),complete:()=>n||t.complete()};return r??=i(),r.then(t=>{n||(a=t.subscribe(e,o))},e=>{r=void 0,o.error(e)}),()=>{n=!0,a()}}}var le=4403;async function ue(e){let t=Math.min(1e3*2**e,3e4),n=new AbortController;await new Promise(e=>{setTimeout(e,t*(.5+Math.random()/2)),addEventListener(`online`,()=>e(),{signal:n.signal})}),n.abort()}function T(e){let t=new Map,n=new Set;function r(t,n){try{return t(e())}catch{return n?.(),null}}let i=e=>n.forEach(t=>t(e));addEventListener(`storage`,e=>{e.storageArea===r(e=>e)&&(e.key===null?t.clear():t.delete(e.key),i(e.key))}),addEventListener(`pageshow`,e=>e.persisted&&i(null));let a=e=>t.get(e)??r(t=>t.getItem(e));return{get:a,isThere:()=>r(e=>e!==null)===!0,read(e){try{return JSON.parse(a(e)??`null`)}catch{return null}},set(e,n){t.delete(e),n===null?r(t=>t.removeItem(e)):r(t=>t.setItem(e,n),()=>t.set(e,n)),i(e)},follow(e,t){let r=n=>(n===null||n===e)&&t();return n.add(r),()=>void n.delete(r)}}}var E=T(()=>localStorage);T(()=>sessionStorage);function de(e){let t=new Set,n=()=>e,r=e=>(t.add(e),()=>void t.delete(e));return{get:n,set(n){e=n,t.forEach(e=>e())},follow:r,use:()=>fe(r,n)}}function fe(e,t){let[,n]=(0,_.useReducer)(e=>e+1,0),r=t(),i=(0,_.useEffectEvent)(()=>{t()!==r&&n()});return(0,_.useLayoutEffect)(()=>(i(),e(()=>i())),[e]),r}var D=`cosmosblog.session`,O=()=>E.read(D),k=de(O());E.follow(D,()=>k.set(O()));function pe(e){E.set(F,e.name),E.set(D,JSON.stringify(e))}var me=()=>E.set(D,null);function A(e){let t=O();e&&t?.token===e&&E.set(D,JSON.stringify({name:t.name}))}async function j(e,t){let n=e.trim().toLowerCase(),[r]=Object.entries(N()).find(([,e])=>e.toLowerCase()===n)??[n],i=await he(r),a=await t(i,r);return ge(r,a),r!==n&&a?.toLowerCase()!==n?j(e,t):{account:{name:r,token:i},username:a}}async function he(e){let{token:t,errors:n}=await(await se(`/development/token`,{method:`POST`,headers:{"Content-Type":`application/json`},body:JSON.stringify({name:e})})).json();if(!t)throw new S(n?.[0]?.message??`This server signs nobody in by name.`);return t}var M=`cosmosblog.usernames`,N=()=>E.read(M)??{};function ge(e,t){let n=Object.entries(N()).filter(([n,r])=>n!==e&&r.toLowerCase()!==t?.toLowerCase());t&&n.push([e,t]),E.set(M,JSON.stringify(Object.fromEntries(n)))}var P=e=>N()[e]??e,F=`cosmosblog.name`,_e=()=>P(E.get(F)??`anna`),I=e=>e?.token?e:void 0,L=()=>I(k.get()),R=()=>I(k.use()),z=({token:e})=>`Bearer ${e}`;function ve(){let e=L();return{...e&&{authorization:z(e)},"x-cosmos-diagnostics":`1`}}async function B(e,t,n){let r=new Headers(t);return r.set(`accept`,`application/graphql-response+json, application/json`),r.set(`content-type`,`application/json`),fetch(e,{method:`POST`,headers:r,body:JSON.stringify(n)})}async function V(e,t={}){let n=L(),r=new Headers(ve());for(let[e,n]of Object.entries(t))r.set(e,String(n));let i=await B(`/graphql`,r,e);return i.status!==401||!n||r.get(`authorization`)!==z(n)?i:(A(n.token),V(e,t))}var ye=async(e,t)=>{let n=U(e),r={...e,operationName:n?n.name?.value:e.operationName};if(n?.operation===`subscription`)return xe(r,t?.headers);let i=performance.now(),o,s;try{o=await(await V(r,t?.headers)).text(),s=JSON.parse(o)}catch{return{errors:[new a(C)]}}return e.operationName!==`IntrospectionQuery`&&ae({result:s,milliseconds:performance.now()-i,bytes:H(o)}),s};async function be(e,t){let{errors:n,extensions:r}=await(await fetch(`/graphql`,{method:`POST`,headers:{accept:`application/json`,"content-type":`application/json`,"x-cosmos-diagnostics":`price`},body:JSON.stringify({...e,operationName:U(e)?.name?.value}),signal:t})).json(),i=r?.cosmos;if(i)return{ru:i.estimate,field:i.mostExpensive?.field};let a=n?.[0]?.extensions;if(a?.code===`COST_LIMIT_EXCEEDED`)return{ru:a.price,field:a.field,limit:a.limit}}var H=e=>new Blob([e]).size;function U({query:e,operationName:t}){try{let n=u(e).definitions.filter(e=>e.kind===s.OPERATION_DEFINITION);return n.length===1?n[0]:n.find(({name:e})=>e?.value===t)}catch{return}}function xe(e,t={}){let n=L(),r=Object.entries(t).find(([e])=>e.toLowerCase()===`authorization`),i=r?String(r[1]):n&&z(n);return{subscribe({next:t,error:o,complete:s}){let c=e=>{ae({result:e,bytes:H(JSON.stringify(e))}),t(e)},l=ce({authorization:()=>i,onRefused(e){r||A(n?.token),l(),c({errors:[new a(e,{extensions:{code:`UNAUTHENTICATED`}})]}),s()}})(e,{next:c,complete:s,error:e=>Array.isArray(e)?c({errors:e}):o(e)});return{unsubscribe:l}}}}async function W(e,t){let n=await(await V({query:e,variables:t})).json();if(n.errors?.[0])throw new S(n.errors[0].message);return n.data}async function Se(e){let{data:t,errors:n}=await(await B(`/graphql`,{authorization:`Bearer ${e}`},{query:`{ viewer { username } }`})).json();if(n?.[0])throw new S(n[0].message);return t?.viewer?.username}async function Ce(){let{viewer:e,feed:t}=await W(`{ viewer { id } feed(first: 20) { nodes { id commentCount likeCount author { id } } } }`,{}),n=e=>Math.min(e.commentCount,e.likeCount),r=t?.nodes.toSorted((e,t)=>n(t)-n(e))[0];return{postId:r?.id,userId:e?.id??r?.author.id}}var G=n();function K({className:e,children:t}){return(0,G.jsx)(`svg`,{className:e,viewBox:`0 0 24 24`,fill:`none`,stroke:`currentColor`,strokeWidth:`1.75`,strokeLinecap:`round`,strokeLinejoin:`round`,"aria-hidden":`true`,children:t})}var we=()=>(0,G.jsxs)(K,{className:`graphiql-toolbar-icon`,children:[(0,G.jsx)(`circle`,{cx:`8`,cy:`15`,r:`4.5`}),(0,G.jsx)(`path`,{d:`m11.5 11.5 8-8M16 7l3 3`})]}),Te=()=>(0,G.jsxs)(K,{children:[(0,G.jsx)(`rect`,{x:`3.5`,y:`3.5`,width:`17`,height:`17`,rx:`3`}),(0,G.jsx)(`path`,{d:`m8 9 3 3-3 3M13.5 15H17`})]}),q={title:`Request charges`,icon:()=>(0,G.jsxs)(K,{children:[(0,G.jsx)(`path`,{d:`M4 17.5a9 9 0 1 1 16 0M12 14.5l4-5`}),(0,G.jsx)(`circle`,{cx:`12`,cy:`14.5`,r:`1.2`})]}),content:Ee};function Ee(){let{last:e,answers:t,total:n}=b(),r=e?.cosmos;return(0,G.jsxs)(`section`,{className:`charges`,"aria-labelledby":`charges`,children:[(0,G.jsx)(`h2`,{id:`charges`,className:`panel-title`,children:`Request charges`}),!e&&(0,G.jsx)(`p`,{className:`panel-text`,children:`Run an operation to see what it costs in request units (RU).`}),e&&!r&&(0,G.jsx)(`p`,{className:`panel-text`,children:e.milliseconds===void 0?`Answers of subscriptions do not show their charges.`:`The last answer has no charges, because it was rejected before it was executed.`}),r&&(0,G.jsxs)(G.Fragment,{children:[(0,G.jsxs)(`dl`,{children:[(0,G.jsx)(J,{name:`RU charged`,value:String(r.requestCharge)}),(0,G.jsx)(J,{name:`RU estimated`,value:String(r.estimate)}),(0,G.jsx)(J,{name:`Requests`,value:String(r.requests.filter(e=>!e.cached).length)})]}),(0,G.jsx)(`div`,{className:`scroll`,tabIndex:0,role:`region`,"aria-label":`Requests to Cosmos DB`,children:(0,G.jsxs)(`table`,{children:[(0,G.jsx)(`thead`,{children:(0,G.jsxs)(`tr`,{children:[(0,G.jsx)(`th`,{scope:`col`,children:`Field and request`}),(0,G.jsx)(`th`,{scope:`col`,className:`number`,children:`RU`})]})}),(0,G.jsx)(`tbody`,{children:r.requests.map((e,t)=>(0,G.jsx)(De,{sent:e},t))})]})}),r.requests.some(e=>e.cached)&&(0,G.jsx)(`p`,{className:`panel-text`,children:`A cached read cost nothing, because nothing was written to its partition since it was last read.`})]}),t>0&&(0,G.jsxs)(`p`,{className:`panel-text`,children:[x(n),` in `,t,` `,t===1?`answer`:`answers`,` since this page was loaded.`]})]})}var J=({name:e,value:t})=>(0,G.jsxs)(`div`,{children:[(0,G.jsx)(`dt`,{children:e}),(0,G.jsx)(`dd`,{children:t})]});function De({sent:e}){let t=[e.partitionKey].flat();return(0,G.jsxs)(`tr`,{children:[(0,G.jsxs)(`td`,{children:[(0,G.jsx)(`code`,{children:e.path.join(`.`)||`–`}),(0,G.jsx)(`br`,{}),e.operation,` in `,(0,G.jsx)(`strong`,{children:e.container}),e.status>=400&&`, status ${e.status}`,(0,G.jsx)(`br`,{}),(0,G.jsx)(`code`,{className:`key`,title:t.join(`, `),children:t.length>1?`${t.length} partitions`:t[0]})]}),(0,G.jsxs)(`td`,{className:`number`,children:[e.cached?`cached`:e.requestCharge.toFixed(2),e.savedCharge&&(0,G.jsxs)(`small`,{children:[`saved `,e.savedCharge.toFixed(2)]})]})]})}var Oe=Object.assign({"./examples/archive.graphql":`# The months that have posts, and the
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
`}),Y=(e,t,n,r,i)=>({code:e,title:t,articleRU:n,query:Oe[`./examples/${r}.graphql`],variables:i?ke(i):``}),ke=e=>JSON.stringify(e,null,2),X=[Y(`Q6`,`Recent posts`,16.97,`feed`),Y(`C1`,`Create a user`,5.71,`create-user`,{username:``}),Y(`Q1`,`A user`,1,`user`,{userId:``}),Y(`C2`,`Publish a post`,8.76,`create-post`,{title:`One partition is enough`,content:`Every list of this blog is one query in one partition.`,tags:[`data-modelling`]}),Y(`Q2`,`A post`,1,`post`,{postId:``}),Y(`Q3`,`A user’s posts`,6.46,`user-posts`,{userId:``}),Y(`C3`,`Comment on a post`,15.27,`create-comment`,{postId:``,content:`Well said.`}),Y(`Q4`,`A post’s comments`,7.72,`comments`,{postId:``}),Y(`C4`,`Like a post`,14.67,`like-post`,{postId:``}),Y(`Q5`,`A post’s likes`,8.92,`likes`,{postId:``}),Y(`T1`,`Tags and their posts`,void 0,`tags`),Y(`T2`,`The archive`,void 0,`archive`),Y(`S1`,`Watch a post`,void 0,`post-changed`,{postId:``}),Y(`S2`,`Watch for comments`,void 0,`comment-added`,{postId:``}),Y(`S3`,`Watch the feed`,void 0,`post-published`)];function Ae(e){let t=Me(e);return[`postId`,`userId`,`username`].filter(e=>t?.[e]===``)}function je(e,t){let n=Me(e);if(!n)return e;for(let r of Ae(e))n[r]=t[r]??``;return ke(n)}function Me(e){try{let t=JSON.parse(e);return typeof t==`object`&&t?t:void 0}catch{return}}var Ne=()=>matchMedia(`(max-width: 48rem)`).matches,Pe=e=>e.tabs[e.activeTabIndex],Fe=e=>Pe(e)?.id,Ie={documentAST:void 0,operations:void 0,operationName:void 0},Le=new Set,Z=e=>Le.has(e)||X.some(t=>t.variables===e);function Re({query:e,variables:t,headers:n,response:r}){return n?.trim()||r?!1:Z(t??``)&&(!e?.trim()||X.some(t=>t.query===e))}function ze(){let{addTab:e,changeTab:t,setOperationFacts:n,stop:r,updateActiveTabValues:a}=i(),o=g(e=>e.tabs),s=g(e=>e.activeTabIndex),c=g(e=>e.isFetching||e.subscription!==null),l=g(e=>e.queryEditor),u=g(e=>e.variableEditor),d=g(e=>e.headerEditor);return{isActive:({query:e})=>o[s]?.query===e,open:i=>{let f={query:l?.getValue()??null,variables:u?.getValue()??null,headers:d?.getValue()??null};f.query!==o[s]?.query&&n(Ie),a(f.query===o[s]?.query?f:{...f,operationName:null});let p={...o[s],...f},m=o.with(s,p).findIndex(({query:e})=>e===i.query);if(m!==s){if(m>=0){if(t(m),!Z(o[m].variables??``))return}else(c||!Re(p))&&(r(),e());l?.setValue(i.query),u?.setValue(i.variables),a({query:i.query,variables:i.variables,operationName:null})}}}}function Be(){Ve();let{setOperationFacts:e}=i(),t=g(Fe),n=(0,_.useRef)(t);(0,_.useEffect)(()=>{n.current!==t&&e(Ie),n.current=t,document.querySelector(`.graphiql-tab-active`)?.scrollIntoView({block:`nearest`,inline:`nearest`})},[t,e])}function Ve(){let e=R(),t=g(e=>e.variableEditor),n=g(Fe),r=g(e=>e.isFetching),i=g(e=>e.tabs[e.activeTabIndex]?.query);(0,_.useEffect)(()=>{let n=t?.getValue()??``,i=Ae(n);if(!t||r||i.length===0)return;let a=!0;return(i.some(e=>e!==`username`)?Ce():Promise.resolve({})).then(r=>{let i=je(n,{...r,username:e&&P(e.name)});a&&t.getValue()===n&&i!==n&&(Z(n)&&Le.add(i),t.setValue(i))},()=>{}),()=>{a=!1}},[e,t,n,r,i])}var He={title:`Examples`,icon:Te,content:Ue};function Ue(){let{setVisiblePlugin:e}=i(),{isActive:t,open:n}=ze(),r=t=>{n(t),Ne()&&e(null)};return(0,G.jsxs)(`section`,{className:`examples`,"aria-labelledby":`examples`,children:[(0,G.jsx)(`h2`,{id:`examples`,className:`panel-title`,children:`Examples`}),(0,G.jsxs)(`p`,{className:`panel-text`,children:[`The ten operations of the article that this blog implements. C are commands and need a`,` `,(0,G.jsx)(`span`,{className:`nowrap`,children:`sign-in`}),`, Q are queries. The charge is what the article measured. T are lists, and S subscriptions, that the article does not have.`]}),(0,G.jsx)(`ol`,{children:X.map(e=>(0,G.jsx)(`li`,{children:(0,G.jsxs)(`button`,{type:`button`,onClick:()=>r(e),"aria-current":t(e)?`true`:void 0,children:[(0,G.jsx)(`span`,{className:`code`,children:e.code}),(0,G.jsx)(`span`,{className:`title`,children:e.title}),(0,G.jsx)(`span`,{className:`charge`,children:e.articleRU&&x(e.articleRU)})]})},e.code))}),(0,G.jsxs)(`p`,{className:`panel-text`,children:[`An empty blog has nothing to read: sign in, and begin with C1. `,(0,G.jsx)(`code`,{children:`cosmosblog seed --users 20`}),` writes sample data.`]})]})}var Q=e(l(),1),We=[`budget`,`cosmos`,`session`];function Ge(){let e=g(e=>e.responseEditor);(0,_.useEffect)(()=>{let t=e?.onDidChangeModelContent(()=>Ke(e));return()=>t?.dispose()},[e])}async function Ke(e){let t=await e.getContribution(`editor.contrib.folding`)?.getFoldingModel(),n=qe(e.getModel()?.getLinesContent()??[]),r=n.map(e=>t?.getRegionAtLine(e));t?.toggleCollapseState(r.filter(e=>e&&!e.isCollapsed&&n.includes(e.startLineNumber)))}function qe(e){let t=e.lastIndexOf(`  "extensions": {`);if(t<0)return[];let n=[];for(let r=t+1;r<e.length&&e[r].startsWith(`    `);r++){let t=e[r].match(/^ {4}"(\w+)":/)?.[1];t&&n.push({name:t,line:r+1})}let r=n.filter(({name:e})=>We.includes(e));return r.length===n.length?[t+1]:r.map(({line:e})=>e)}function Je(){let e=R(),[t,n]=(0,_.useState)(!1);return Ze(()=>n(!0)),(0,G.jsxs)(G.Fragment,{children:[(0,G.jsx)(m,{label:e?`Signed in as ${P(e.name)}`:`Sign in with a development token`,className:e&&`signed-in`,onClick:()=>n(!0),children:(0,G.jsx)(we,{})}),(0,G.jsxs)(p,{open:t,onOpenChange:n,children:[(0,G.jsxs)(`div`,{className:`graphiql-dialog-header`,children:[(0,G.jsx)(p.Title,{className:`graphiql-dialog-title`,children:`Sign in`}),(0,G.jsx)(p.Close,{})]}),(0,G.jsx)(Ye,{onDone:()=>n(!1)})]})]})}function Ye({onDone:e}){let t=R(),n=(0,_.useId)(),[i,a]=(0,_.useState)(_e),[o,s]=(0,_.useState)(``);return(0,G.jsxs)(`form`,{className:`sign-in`,onSubmit:async t=>{t.preventDefault();try{pe((await j(i,Se)).account),e()}catch(e){s(w(e))}},children:[(0,G.jsx)(p.Description,{children:`In development, the server signs in any name. The token goes with the operations of all tabs, unless a tab’s headers have another.`}),(0,G.jsx)(`label`,{htmlFor:n,children:`Name`}),(0,G.jsx)(`input`,{id:n,value:i,onChange:e=>a(e.target.value),required:!0,autoFocus:!0,maxLength:255,autoComplete:`username`,spellCheck:!1,"aria-invalid":o!==``,"aria-describedby":`${n}-fault`}),(0,G.jsx)(`p`,{id:`${n}-fault`,className:`fault`,role:`alert`,children:o}),(0,G.jsxs)(`div`,{className:`buttons`,children:[t&&(0,G.jsx)(r,{type:`button`,onClick:()=>(me(),e()),children:`Sign out`}),(0,G.jsx)(r,{type:`submit`,className:`primary`,children:`Sign in`})]})]})}var $=new EventTarget,Xe=()=>$.dispatchEvent(new Event(`sign-in`));function Ze(e){(0,_.useEffect)(()=>($.addEventListener(`sign-in`,e),()=>$.removeEventListener(`sign-in`,e)),[e])}function Qe(){Be(),Ge();let e=$e(),{last:t}=b();return t?(0,G.jsxs)(`div`,{className:`footer`,role:`status`,children:[t.cosmos&&(0,G.jsx)(r,{type:`button`,className:`total`,onClick:e,children:x(t.cosmos.requestCharge)}),t.cosmos&&(0,G.jsx)(`span`,{children:et(t.cosmos.requests)}),(0,G.jsx)(`span`,{children:t.milliseconds===void 0?`live`:`${Math.round(t.milliseconds)} ms`}),(0,G.jsx)(`span`,{children:tt(t.bytes)}),(0,G.jsx)(nt,{codes:t.codes})]}):(0,G.jsx)(`p`,{className:`footer`,children:`The charge of each answer is shown here.`})}function $e(){let{setVisiblePlugin:e}=i();return()=>{(0,Q.flushSync)(()=>e(null)),document.querySelector(`[aria-label="Show ${q.title}"]`).click()}}function et(e){let t=e.filter(e=>!e.cached).length,n=e.length-t;if(n>0&&t===0)return`${n} cached`;let r=`${t} ${t===1?`request`:`requests`}`;return n>0?`${r}, ${n} cached`:r}var tt=e=>e<1e3?`${e} bytes`:`${(e/1e3).toFixed(1)} kB`;function nt({codes:e}){let t=R(),{run:n}=i(),[a,o]=(0,_.useState)(``);return e.includes(`UNAUTHENTICATED`)?(0,G.jsx)(r,{type:`button`,className:`next`,onClick:Xe,children:`Sign in`}):!e.includes(`USER_REQUIRED`)||!t?null:(0,G.jsxs)(G.Fragment,{children:[(0,G.jsxs)(r,{type:`button`,className:`next`,onClick:async()=>{try{await W(`mutation ($username: String!) { createUser(input: { username: $username }) { user { id } } }`,{username:t.name}),n()}catch(e){o(w(e))}},children:[`Create the user `,t.name]}),a&&(0,G.jsx)(`span`,{className:`fault`,children:a})]})}function rt(){let e=at(),[t,n]=(0,_.useState)(null);if((0,_.useEffect)(()=>n(document.querySelector(`.graphiql-editor-tools`)),[]),!t||!e)return null;let{limit:r,field:i}=e;return(0,Q.createPortal)((0,G.jsxs)(`span`,{className:r?`price too-high`:`price`,title:i&&`${i} costs most.`,children:[(0,G.jsxs)(`span`,{children:[`price `,x(e.ru)]}),r&&(0,G.jsxs)(`span`,{children:[`, limit `,x(r)]})]}),t)}var it=400;function at(){let{id:e,query:t,variables:n}=g(Pe)??{},r=g(e=>e.operationName),i=g(e=>e.schema),[a,o]=(0,_.useState)({}),s=a.tab!==e,c=(0,_.useEffectEvent)(()=>s?0:it);return(0,_.useEffect)(()=>{if(!i)return;let a=new AbortController,s=setTimeout(async()=>{let s=ot(i,t??``,n??``,r),c=s&&await be(s,a.signal).catch(()=>void 0);a.signal.aborted||o({tab:e,price:c})},c());return()=>{clearTimeout(s),a.abort()}},[e,t,n,r,i]),s?void 0:a.price}function ot(e,n,r,i){try{let a={query:n,variables:t(r),operationName:i};return f(e,u(n)).length>0?void 0:a}catch{return}}var{query:st,variables:ct}=X[0],lt=[{query:st,variables:ct}],ut=[d,He,q];(0,ie.createRoot)(document.getElementById(`root`)).render((0,G.jsxs)(G.Fragment,{children:[(0,G.jsx)(`h1`,{className:`hidden`,children:`GraphiQL of cosmosblog`}),(0,G.jsxs)(h,{fetcher:ye,plugins:ut,visiblePlugin:Ne()?void 0:He,defaultTabs:lt,shouldPersistHeaders:!1,showPersistHeadersSettings:!1,defaultEditorToolsVisibility:`variables`,schemaDescription:!0,children:[(0,G.jsx)(h.Logo,{children:(0,G.jsxs)(`a`,{className:`logo`,href:`/`,children:[(0,G.jsx)(`img`,{src:`/playground/icon.svg`,alt:``,width:`22`,height:`22`}),`cosmosblog`]})}),(0,G.jsx)(h.Toolbar,{children:({prettify:e,copy:t,merge:n})=>(0,G.jsxs)(G.Fragment,{children:[(0,G.jsx)(Je,{}),(0,G.jsx)(rt,{}),e,n,t]})}),(0,G.jsx)(h.Footer,{children:(0,G.jsx)(Qe,{})})]})]}));