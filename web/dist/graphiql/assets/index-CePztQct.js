import{r as e}from"./rolldown-runtime-XKyaHtl9.js";import{_ as t,_r as n,c as r,d as i,g as a,gr as o,h as s,i as c,l,m as u,n as d,p as f,r as p,s as ee,t as m,u as h,v as te}from"./vendor-CyXOZh2e.js";function ne(e){return new Worker(`/playground/assets/json.worker-ky6CAS4V.js`,{type:`module`,name:e?.name})}function re(e){return new Worker(`/playground/assets/editor.worker-DEFT_Yb2.js`,{type:`module`,name:e?.name})}function ie(e){return new Worker(`/playground/assets/graphql.worker-CnQW6F4w.js`,{type:`module`,name:e?.name})}window.MonacoEnvironment={getWorker:(e,t)=>t===`json`?new ne:t===`graphql`?new ie:new re};var ae=c(),g=e(o(),1),_={answers:0,total:0},v=new Set;function y({result:e,...t}){let n=e.extensions?.cosmos,r=(e.errors??[]).map(e=>String(e.extensions?.code??``));_={last:{...t,codes:r,cosmos:n},answers:_.answers+(t.milliseconds===void 0?0:1),total:_.total+(n?.requestCharge??0)};for(let e of v)e()}function oe(e){return v.add(e),()=>v.delete(e)}var b=()=>(0,g.useSyncExternalStore)(oe,()=>_),x=e=>`${e.toLocaleString(`en`,{maximumFractionDigits:2})} RU`,S=class extends Error{},C=`The server does not answer. Is it still running?`,w=e=>e instanceof S?e.message:C;async function se(e,t={}){let n=new AbortController,r=setTimeout(()=>n.abort(new DOMException(`silent`,`TimeoutError`)),2e4),i=t.signal?AbortSignal.any([n.signal,t.signal]):n.signal;try{return await fetch(e,{...t,signal:i})}finally{clearTimeout(r)}}function ce({origin:e=location.origin,authorization:t,onRefused:n}){let r;async function i(){let{createClient:r}=await te(async()=>{let{createClient:e}=await import(`./client-i3JjxNFJ.js`);return{createClient:e}},[]),i,a,o=r({url:`${e.replace(`http`,`ws`)}/graphql`,connectionParams(){return a=t(),a?{Authorization:a}:void 0},retryAttempts:1/0,retryWait:ue,shouldRetry:()=>!0,lazyCloseTimeout:3e3,keepAlive:12e3,on:{ping(e){e||(i=setTimeout(o.terminate,5e3))},pong:()=>clearTimeout(i),closed(e){clearTimeout(i);let{code:t,reason:r}=e;t===le&&n(r,a)}}});return o}return function(e,t){let n=!1,a=()=>{},o={next:e=>n||t.next(e),error:e=>n||t.error(e),complete:()=>n||t.complete()};return r??=i(),r.then(t=>{n||(a=t.subscribe(e,o))},e=>{r=void 0,o.error(e)}),()=>{n=!0,a()}}}var le=4403;async function ue(e){let t=Math.min(1e3*2**e,3e4),n=new AbortController;await new Promise(e=>{setTimeout(e,t*(.5+Math.random()/2)),addEventListener(`online`,()=>e(),{signal:n.signal})}),n.abort()}function T(e){let t=new Map,n=new Set;function r(t,n){try{return t(e())}catch{return n?.(),null}}let i=e=>n.forEach(t=>t(e));addEventListener(`storage`,e=>{e.storageArea===r(e=>e)&&(e.key===null?t.clear():t.delete(e.key),i(e.key))}),addEventListener(`pageshow`,e=>e.persisted&&i(null));let a=e=>t.get(e)??r(t=>t.getItem(e));return{get:a,isThere:()=>r(e=>e!==null)===!0,read(e){try{return JSON.parse(a(e)??`null`)}catch{return null}},set(e,n){t.delete(e),n===null?r(t=>t.removeItem(e)):r(t=>t.setItem(e,n),()=>t.set(e,n)),i(e)},follow(e,t){let r=n=>(n===null||n===e)&&t();return n.add(r),()=>void n.delete(r)}}}var E=T(()=>localStorage);T(()=>sessionStorage);function de(e){let t=new Set,n=()=>e,r=e=>(t.add(e),()=>void t.delete(e));return{get:n,set(n){e=n,t.forEach(e=>e())},follow:r,use:()=>fe(r,n)}}function fe(e,t){let[,n]=(0,g.useReducer)(e=>e+1,0),r=t(),i=(0,g.useEffectEvent)(()=>{t()!==r&&n()});return(0,g.useLayoutEffect)(()=>(i(),e(()=>i())),[e]),r}var D=`cosmosblog.session`,O=()=>E.read(D),k=de(O());E.follow(D,()=>k.set(O()));function pe(e){E.set(_e,e.name),E.set(D,JSON.stringify(e))}var me=()=>E.set(D,null);function A(e){let t=O();e&&t?.token===e&&E.set(D,JSON.stringify({name:t.name}))}async function j(e,t){let n=e.trim().toLowerCase(),[r]=Object.entries(N()).find(([,e])=>e.toLowerCase()===n)??[n],i=await he(r),a=await t(i,r);return ge(r,a),r!==n&&a?.toLowerCase()!==n?j(e,t):{account:{name:r,token:i},username:a}}async function he(e){let{token:t,errors:n}=await(await se(`/development/token`,{method:`POST`,headers:{"Content-Type":`application/json`},body:JSON.stringify({name:e})})).json();if(!t)throw new S(n?.[0]?.message??`This server signs nobody in by name.`);return t}var M=`cosmosblog.usernames`,N=()=>E.read(M)??{};function ge(e,t){let n=Object.entries(N()).filter(([n,r])=>n!==e&&r.toLowerCase()!==t?.toLowerCase());t&&n.push([e,t]),E.set(M,JSON.stringify(Object.fromEntries(n)))}var P=e=>N()[e]??e,_e=`cosmosblog.name`,ve=()=>P(E.get(_e)??`anna`),F=e=>e?.token?e:void 0,I=()=>F(k.get()),L=()=>F(k.use()),R=({token:e})=>`Bearer ${e}`;function ye(){let e=I();return{...e&&{authorization:R(e)},"x-cosmos-diagnostics":`1`}}async function z(e,t,n){let r=new Headers(t);return r.set(`accept`,`application/graphql-response+json, application/json`),r.set(`content-type`,`application/json`),fetch(e,{method:`POST`,headers:r,body:JSON.stringify(n)})}async function B(e,t={}){let n=I(),r=new Headers(ye());for(let[e,n]of Object.entries(t))r.set(e,String(n));let i=await z(`/graphql`,r,e);return i.status!==401||!n||r.get(`authorization`)!==R(n)?i:(A(n.token),B(e,t))}var be=async(e,t)=>{let n=H(e),r={...e,operationName:n?n.name?.value:e.operationName};if(n?.operation===`subscription`)return Se(r,t?.headers);let i=performance.now(),o,s;try{o=await(await B(r,t?.headers)).text(),s=JSON.parse(o)}catch{return{errors:[new a(C)]}}return e.operationName!==`IntrospectionQuery`&&y({result:s,milliseconds:performance.now()-i,bytes:V(o)}),s};async function xe(e,t){let{errors:n,extensions:r}=await(await fetch(`/graphql`,{method:`POST`,headers:{accept:`application/json`,"content-type":`application/json`,"x-cosmos-diagnostics":`price`},body:JSON.stringify({...e,operationName:H(e)?.name?.value}),signal:t})).json(),i=r?.cosmos;if(i)return{ru:i.estimate,field:i.mostExpensive?.field};let a=n?.[0]?.extensions;if(a?.code===`COST_LIMIT_EXCEEDED`)return{ru:a.price,field:a.field,limit:a.limit}}var V=e=>new Blob([e]).size;function H({query:e,operationName:t}){try{let n=u(e).definitions.filter(e=>e.kind===s.OPERATION_DEFINITION);return n.length===1?n[0]:n.find(({name:e})=>e?.value===t)}catch{return}}function Se(e,t={}){let n=I(),r=Object.entries(t).find(([e])=>e.toLowerCase()===`authorization`),i=r?String(r[1]):n&&R(n);return{subscribe({next:t,error:o,complete:s}){let c=e=>{y({result:e,bytes:V(JSON.stringify(e))}),t(e)},l=ce({authorization:()=>i,onRefused(e){r||A(n?.token),l(),c({errors:[new a(e,{extensions:{code:`UNAUTHENTICATED`}})]}),s()}})(e,{next:c,complete:s,error:e=>Array.isArray(e)?c({errors:e}):o(e)});return{unsubscribe:l}}}}async function U(e,t){let n=await(await B({query:e,variables:t})).json();if(n.errors?.[0])throw new S(n.errors[0].message);return n.data}async function Ce(e){let{data:t,errors:n}=await(await z(`/graphql`,{authorization:`Bearer ${e}`},{query:`{ viewer { username } }`})).json();if(n?.[0])throw new S(n[0].message);return t?.viewer?.username}async function we(){let{viewer:e,feed:t}=await U(`{ viewer { id } feed(first: 20) { nodes { id commentCount likeCount author { id } } } }`,{}),n=e=>Math.min(e.commentCount,e.likeCount),r=t?.nodes.toSorted((e,t)=>n(t)-n(e))[0];return{postId:r?.id,userId:e?.id??r?.author.id}}var W=n();function G({className:e,children:t}){return(0,W.jsx)(`svg`,{className:e,viewBox:`0 0 24 24`,fill:`none`,stroke:`currentColor`,strokeWidth:`1.75`,strokeLinecap:`round`,strokeLinejoin:`round`,"aria-hidden":`true`,children:t})}var Te=()=>(0,W.jsxs)(G,{className:`graphiql-toolbar-icon`,children:[(0,W.jsx)(`circle`,{cx:`8`,cy:`15`,r:`4.5`}),(0,W.jsx)(`path`,{d:`m11.5 11.5 8-8M16 7l3 3`})]}),Ee=()=>(0,W.jsxs)(G,{children:[(0,W.jsx)(`rect`,{x:`3.5`,y:`3.5`,width:`17`,height:`17`,rx:`3`}),(0,W.jsx)(`path`,{d:`m8 9 3 3-3 3M13.5 15H17`})]}),K={title:`Request charges`,icon:()=>(0,W.jsxs)(G,{children:[(0,W.jsx)(`path`,{d:`M4 17.5a9 9 0 1 1 16 0M12 14.5l4-5`}),(0,W.jsx)(`circle`,{cx:`12`,cy:`14.5`,r:`1.2`})]}),content:De};function De(){let{last:e,answers:t,total:n}=b(),r=e?.cosmos;return(0,W.jsxs)(`section`,{className:`charges`,"aria-labelledby":`charges`,children:[(0,W.jsx)(`h2`,{id:`charges`,className:`panel-title`,children:`Request charges`}),!e&&(0,W.jsx)(`p`,{className:`panel-text`,children:`Run an operation to see what it costs in request units (RU).`}),e&&!r&&(0,W.jsx)(`p`,{className:`panel-text`,children:e.milliseconds===void 0?`Answers of subscriptions do not show their charges.`:`The last answer has no charges, because it was rejected before it was executed.`}),r&&(0,W.jsxs)(W.Fragment,{children:[(0,W.jsxs)(`dl`,{children:[(0,W.jsx)(q,{name:`RU charged`,value:String(r.requestCharge)}),(0,W.jsx)(q,{name:`RU estimated`,value:String(r.estimate)}),(0,W.jsx)(q,{name:`Requests`,value:String(r.requests.filter(e=>!e.cached).length)})]}),(0,W.jsx)(`div`,{className:`scroll`,tabIndex:0,role:`region`,"aria-label":`Requests to Cosmos DB`,children:(0,W.jsxs)(`table`,{children:[(0,W.jsx)(`thead`,{children:(0,W.jsxs)(`tr`,{children:[(0,W.jsx)(`th`,{scope:`col`,children:`Field and request`}),(0,W.jsx)(`th`,{scope:`col`,className:`number`,children:`RU`})]})}),(0,W.jsx)(`tbody`,{children:r.requests.map((e,t)=>(0,W.jsx)(Oe,{sent:e},t))})]})}),r.requests.some(e=>e.cached)&&(0,W.jsx)(`p`,{className:`panel-text`,children:`A cached read cost nothing, because nothing was written to its partition since it was last read.`})]}),t>0&&(0,W.jsxs)(`p`,{className:`panel-text`,children:[x(n),` in `,t,` `,t===1?`answer`:`answers`,` since this page was loaded.`]})]})}var q=({name:e,value:t})=>(0,W.jsxs)(`div`,{children:[(0,W.jsx)(`dt`,{children:e}),(0,W.jsx)(`dd`,{children:t})]});function Oe({sent:e}){let t=[e.partitionKey].flat();return(0,W.jsxs)(`tr`,{children:[(0,W.jsxs)(`td`,{children:[(0,W.jsx)(`code`,{children:e.path.join(`.`)||`–`}),(0,W.jsx)(`br`,{}),e.operation,` in `,(0,W.jsx)(`strong`,{children:e.container}),e.status>=400&&`, status ${e.status}`,(0,W.jsx)(`br`,{}),(0,W.jsx)(`code`,{className:`key`,title:t.join(`, `),children:t.length>1?`${t.length} partitions`:t[0]})]}),(0,W.jsxs)(`td`,{className:`number`,children:[e.cached?`cached`:e.requestCharge.toFixed(2),e.savedCharge&&(0,W.jsxs)(`small`,{children:[`saved `,e.savedCharge.toFixed(2)]})]})]})}var ke=Object.assign({"./examples/archive.graphql":`# The months that have posts, and the
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
`}),J=(e,t,n,r,i)=>({code:e,title:t,articleRU:n,query:ke[`./examples/${r}.graphql`],variables:i?Y(i):``}),Y=e=>JSON.stringify(e,null,2),X=[J(`Q6`,`Recent posts`,16.97,`feed`),J(`C1`,`Create a user`,5.71,`create-user`,{username:``}),J(`Q1`,`A user`,1,`user`,{userId:``}),J(`C2`,`Publish a post`,8.76,`create-post`,{title:`One partition is enough`,content:`Every list of this blog is one query in one partition.`,tags:[`data-modelling`]}),J(`Q2`,`A post`,1,`post`,{postId:``}),J(`Q3`,`A user’s posts`,6.46,`user-posts`,{userId:``}),J(`C3`,`Comment on a post`,15.27,`create-comment`,{postId:``,content:`Well said.`}),J(`Q4`,`A post’s comments`,7.72,`comments`,{postId:``}),J(`C4`,`Like a post`,14.67,`like-post`,{postId:``}),J(`Q5`,`A post’s likes`,8.92,`likes`,{postId:``}),J(`T1`,`Tags and their posts`,void 0,`tags`),J(`T2`,`The archive`,void 0,`archive`),J(`S1`,`Watch a post`,void 0,`post-changed`,{postId:``}),J(`S2`,`Watch for comments`,void 0,`comment-added`,{postId:``}),J(`S3`,`Watch the feed`,void 0,`post-published`)];function Z(e){let t=je(e);return[`postId`,`userId`,`username`].filter(e=>t?.[e]===``)}function Ae(e,t){let n=je(e);if(!n)return e;for(let r of Z(e))n[r]=t[r]??``;return Y(n)}function je(e){try{let t=JSON.parse(e);return typeof t==`object`&&t?t:void 0}catch{return}}var Me=()=>matchMedia(`(max-width: 48rem)`).matches,Ne=e=>e.tabs[e.activeTabIndex],Pe=e=>Ne(e)?.id,Fe=new Set,Q=e=>Fe.has(e)||X.some(t=>t.variables===e);function Ie({query:e,variables:t,headers:n,response:r}){return n?.trim()||r?!1:Q(t??``)&&(!e?.trim()||X.some(t=>t.query===e))}function Le(){let{addTab:e,changeTab:t,stop:n,updateActiveTabValues:r}=i(),a=h(e=>e.tabs),o=h(e=>e.activeTabIndex),s=h(e=>e.isFetching||e.subscription!==null),c=h(e=>e.queryEditor),l=h(e=>e.variableEditor),u=h(e=>e.headerEditor);return{isActive:({query:e})=>a[o]?.query===e,open:i=>{let d={query:c?.getValue()??null,variables:l?.getValue()??null,headers:u?.getValue()??null};r(d.query===a[o]?.query?d:{...d,operationName:null});let f={...a[o],...d},p=a.with(o,f).findIndex(({query:e})=>e===i.query);if(p!==o){if(p>=0){if(t(p),!Q(a[p].variables??``))return}else(s||!Ie(f))&&(n(),e());c?.setValue(i.query),l?.setValue(i.variables),r({query:i.query,variables:i.variables,operationName:null})}}}}function Re(){ze();let e=h(Pe);(0,g.useEffect)(()=>{document.querySelector(`.graphiql-tab-active`)?.scrollIntoView({block:`nearest`,inline:`nearest`})},[e])}function ze(){let e=L(),t=h(e=>e.variableEditor),n=h(Pe),r=h(e=>e.isFetching),i=h(e=>e.tabs[e.activeTabIndex]?.query);(0,g.useEffect)(()=>{let n=t?.getValue()??``,i=Z(n);if(!t||r||i.length===0)return;let a=!0;return(i.some(e=>e!==`username`)?we():Promise.resolve({})).then(r=>{let i=Ae(n,{...r,username:e&&P(e.name)});a&&t.getValue()===n&&i!==n&&(Q(n)&&Fe.add(i),t.setValue(i))},()=>{}),()=>{a=!1}},[e,t,n,r,i])}var Be={title:`Examples`,icon:Ee,content:Ve};function Ve(){let{setVisiblePlugin:e}=i(),{isActive:t,open:n}=Le(),r=t=>{n(t),Me()&&e(null)};return(0,W.jsxs)(`section`,{className:`examples`,"aria-labelledby":`examples`,children:[(0,W.jsx)(`h2`,{id:`examples`,className:`panel-title`,children:`Examples`}),(0,W.jsxs)(`p`,{className:`panel-text`,children:[`The ten operations of the article that this blog implements. C are commands and need a`,` `,(0,W.jsx)(`span`,{className:`nowrap`,children:`sign-in`}),`, Q are queries. The charge is what the article measured. T are lists, and S subscriptions, that the article does not have.`]}),(0,W.jsx)(`ol`,{children:X.map(e=>(0,W.jsx)(`li`,{children:(0,W.jsxs)(`button`,{type:`button`,onClick:()=>r(e),"aria-current":t(e)?`true`:void 0,children:[(0,W.jsx)(`span`,{className:`code`,children:e.code}),(0,W.jsx)(`span`,{className:`title`,children:e.title}),(0,W.jsx)(`span`,{className:`charge`,children:e.articleRU&&x(e.articleRU)})]})},e.code))}),(0,W.jsxs)(`p`,{className:`panel-text`,children:[`An empty blog has nothing to read: sign in, and begin with C1. `,(0,W.jsx)(`code`,{children:`cosmosblog seed --users 20`}),` writes sample data.`]})]})}var He=e(l(),1),Ue=[`budget`,`cosmos`,`session`];function We(){let e=h(e=>e.responseEditor);(0,g.useEffect)(()=>{let t=e?.onDidChangeModelContent(()=>Ge(e));return()=>t?.dispose()},[e])}async function Ge(e){let t=await e.getContribution(`editor.contrib.folding`)?.getFoldingModel(),n=Ke(e.getModel()?.getLinesContent()??[]),r=n.map(e=>t?.getRegionAtLine(e));t?.toggleCollapseState(r.filter(e=>e&&!e.isCollapsed&&n.includes(e.startLineNumber)))}function Ke(e){let t=e.lastIndexOf(`  "extensions": {`);if(t<0)return[];let n=[];for(let r=t+1;r<e.length&&e[r].startsWith(`    `);r++){let t=e[r].match(/^ {4}"(\w+)":/)?.[1];t&&n.push({name:t,line:r+1})}let r=n.filter(({name:e})=>Ue.includes(e));return r.length===n.length?[t+1]:r.map(({line:e})=>e)}function qe(){let e=L(),[t,n]=(0,g.useState)(!1);return Xe(()=>n(!0)),(0,W.jsxs)(W.Fragment,{children:[(0,W.jsx)(ee,{label:e?`Signed in as ${P(e.name)}`:`Sign in with a development token`,className:e&&`signed-in`,onClick:()=>n(!0),children:(0,W.jsx)(Te,{})}),(0,W.jsxs)(p,{open:t,onOpenChange:n,children:[(0,W.jsxs)(`div`,{className:`graphiql-dialog-header`,children:[(0,W.jsx)(p.Title,{className:`graphiql-dialog-title`,children:`Sign in`}),(0,W.jsx)(p.Close,{})]}),(0,W.jsx)(Je,{onDone:()=>n(!1)})]})]})}function Je({onDone:e}){let t=L(),n=(0,g.useId)(),[i,a]=(0,g.useState)(ve),[o,s]=(0,g.useState)(``);return(0,W.jsxs)(`form`,{className:`sign-in`,onSubmit:async t=>{t.preventDefault();try{pe((await j(i,Ce)).account),e()}catch(e){s(w(e))}},children:[(0,W.jsx)(p.Description,{children:`In development, the server signs in any name. The token goes with the operations of all tabs, unless a tab’s headers have another.`}),(0,W.jsx)(`label`,{htmlFor:n,children:`Name`}),(0,W.jsx)(`input`,{id:n,value:i,onChange:e=>a(e.target.value),required:!0,autoFocus:!0,maxLength:255,autoComplete:`username`,spellCheck:!1,"aria-invalid":o!==``,"aria-describedby":`${n}-fault`}),(0,W.jsx)(`p`,{id:`${n}-fault`,className:`fault`,role:`alert`,children:o}),(0,W.jsxs)(`div`,{className:`buttons`,children:[t&&(0,W.jsx)(r,{type:`button`,onClick:()=>(me(),e()),children:`Sign out`}),(0,W.jsx)(r,{type:`submit`,className:`primary`,children:`Sign in`})]})]})}var $=new EventTarget,Ye=()=>$.dispatchEvent(new Event(`sign-in`));function Xe(e){(0,g.useEffect)(()=>($.addEventListener(`sign-in`,e),()=>$.removeEventListener(`sign-in`,e)),[e])}function Ze(){Re(),We();let e=Qe(),{last:t}=b();return t?(0,W.jsxs)(`div`,{className:`footer`,role:`status`,children:[t.cosmos&&(0,W.jsx)(r,{type:`button`,className:`total`,onClick:e,children:x(t.cosmos.requestCharge)}),t.cosmos&&(0,W.jsx)(`span`,{children:$e(t.cosmos.requests)}),(0,W.jsx)(`span`,{children:t.milliseconds===void 0?`live`:`${Math.round(t.milliseconds)} ms`}),(0,W.jsx)(`span`,{children:et(t.bytes)}),(0,W.jsx)(tt,{codes:t.codes})]}):(0,W.jsx)(`p`,{className:`footer`,children:`The charge of each answer is shown here.`})}function Qe(){let{setVisiblePlugin:e}=i();return()=>{(0,He.flushSync)(()=>e(null)),document.querySelector(`[aria-label="Show ${K.title}"]`).click()}}function $e(e){let t=e.filter(e=>!e.cached).length,n=e.length-t;if(n>0&&t===0)return`${n} cached`;let r=`${t} ${t===1?`request`:`requests`}`;return n>0?`${r}, ${n} cached`:r}var et=e=>e<1e3?`${e} bytes`:`${(e/1e3).toFixed(1)} kB`;function tt({codes:e}){let t=L(),{run:n}=i(),[a,o]=(0,g.useState)(``);return e.includes(`UNAUTHENTICATED`)?(0,W.jsx)(r,{type:`button`,className:`next`,onClick:Ye,children:`Sign in`}):!e.includes(`USER_REQUIRED`)||!t?null:(0,W.jsxs)(W.Fragment,{children:[(0,W.jsxs)(r,{type:`button`,className:`next`,onClick:async()=>{try{await U(`mutation ($username: String!) { createUser(input: { username: $username }) { user { id } } }`,{username:t.name}),n()}catch(e){o(w(e))}},children:[`Create the user `,t.name]}),a&&(0,W.jsx)(`span`,{className:`fault`,children:a})]})}function nt(){let e=it(),[t,n]=(0,g.useState)(null);if((0,g.useEffect)(()=>n(document.querySelector(`.graphiql-editor-tools`)),[]),!t||!e)return null;let{limit:r,field:i}=e;return(0,He.createPortal)((0,W.jsxs)(`span`,{className:r?`price too-high`:`price`,title:i&&`${i} costs most.`,children:[(0,W.jsxs)(`span`,{children:[`price `,x(e.ru)]}),r&&(0,W.jsxs)(`span`,{children:[`, limit `,x(r)]})]}),t)}var rt=400;function it(){let{id:e,query:t,variables:n}=h(Ne)??{},r=h(e=>e.operationName),i=h(e=>e.schema),[a,o]=(0,g.useState)({}),s=a.tab!==e,c=(0,g.useEffectEvent)(()=>s?0:rt);return(0,g.useEffect)(()=>{if(!i)return;let a=new AbortController,s=setTimeout(async()=>{let s=at(i,t??``,n??``,r),c=s&&await xe(s,a.signal).catch(()=>void 0);a.signal.aborted||o({tab:e,price:c})},c());return()=>{clearTimeout(s),a.abort()}},[e,t,n,r,i]),s?void 0:a.price}function at(e,n,r,i){try{let a={query:n,variables:t(r),operationName:i};return f(e,u(n)).length>0?void 0:a}catch{return}}var{query:ot,variables:st}=X[0],ct=[{query:ot,variables:st}],lt=[d,Be,K];(0,ae.createRoot)(document.getElementById(`root`)).render((0,W.jsxs)(W.Fragment,{children:[(0,W.jsx)(`h1`,{className:`hidden`,children:`GraphiQL of cosmosblog`}),(0,W.jsxs)(m,{fetcher:be,plugins:lt,visiblePlugin:Me()?void 0:Be,defaultTabs:ct,shouldPersistHeaders:!1,showPersistHeadersSettings:!1,defaultEditorToolsVisibility:`variables`,schemaDescription:!0,children:[(0,W.jsx)(m.Logo,{children:(0,W.jsxs)(`a`,{className:`logo`,href:`/`,children:[(0,W.jsx)(`img`,{src:`/playground/icon.svg`,alt:``,width:`22`,height:`22`}),`cosmosblog`]})}),(0,W.jsx)(m.Toolbar,{children:({prettify:e,copy:t,merge:n})=>(0,W.jsxs)(W.Fragment,{children:[(0,W.jsx)(qe,{}),(0,W.jsx)(nt,{}),e,n,t]})}),(0,W.jsx)(m.Footer,{children:(0,W.jsx)(Ze,{})})]})]}));