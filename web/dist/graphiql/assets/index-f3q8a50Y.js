import{r as e}from"./rolldown-runtime-XKyaHtl9.js";import{c as t,d as n,g as r,h as i,hr as a,i as o,l as s,m as c,mr as l,n as ee,p as te,r as u,s as ne,t as d,u as f}from"./vendor-Cu5p3d-4.js";function re(e){return new Worker(`/playground/assets/json.worker-ky6CAS4V.js`,{type:`module`,name:e?.name})}function ie(e){return new Worker(`/playground/assets/editor.worker-DEFT_Yb2.js`,{type:`module`,name:e?.name})}function ae(e){return new Worker(`/playground/assets/graphql.worker-CnQW6F4w.js`,{type:`module`,name:e?.name})}window.MonacoEnvironment={getWorker:(e,t)=>t===`json`?new re:t===`graphql`?new ae:new ie};var oe=o(),p=e(l(),1),m={answers:0,total:0},h=new Set;function g({result:e,...t}){let n=e.extensions?.cosmos,r=(e.errors??[]).map(e=>String(e.extensions?.code??``));m={last:{...t,codes:r,cosmos:n},answers:m.answers+(t.milliseconds===void 0?0:1),total:m.total+(n?.requestCharge??0)};for(let e of h)e()}function se(e){return h.add(e),()=>h.delete(e)}var _=()=>(0,p.useSyncExternalStore)(se,()=>m),v=e=>`${e.toLocaleString(`en`,{maximumFractionDigits:2})} RU`,y=class extends Error{},b=`The server does not answer. Is it still running?`,x=e=>e instanceof y?e.message:b;async function ce(e,t={}){let n=new AbortController,r=setTimeout(()=>n.abort(new DOMException(`silent`,`TimeoutError`)),2e4),i=t.signal?AbortSignal.any([n.signal,t.signal]):n.signal;try{return await fetch(e,{...t,signal:i})}finally{clearTimeout(r)}}function le({authorization:e,onRefused:t}){let n;async function i(){let{createClient:n}=await r(async()=>{let{createClient:e}=await import(`./client-i3JjxNFJ.js`);return{createClient:e}},[]),i,a=n({url:`${location.origin.replace(`http`,`ws`)}/graphql`,connectionParams:e?{Authorization:e}:void 0,retryAttempts:1/0,retryWait:de,shouldRetry:()=>!0,lazyCloseTimeout:3e3,keepAlive:12e3,on:{ping(e){e||(i=setTimeout(a.terminate,5e3))},pong:()=>clearTimeout(i),closed(e){clearTimeout(i);let{code:n,reason:r}=e;n===ue&&t(r)}}});return a}return function(e,t){let r=!1,a=()=>{},o={next:e=>r||t.next(e),error:e=>r||t.error(e),complete:()=>r||t.complete()};return n??=i(),n.then(t=>{r||(a=t.subscribe(e,o))},e=>{n=void 0,o.error(e)}),()=>{r=!0,a()}}}var ue=4403;async function de(e){let t=Math.min(1e3*2**e,3e4),n=new AbortController;await new Promise(e=>{setTimeout(e,t*(.5+Math.random()/2)),addEventListener(`online`,()=>e(),{signal:n.signal})}),n.abort()}function S(e){let t=new Map,n=new Set;function r(t,n){try{return t(e())}catch{return n?.(),null}}let i=e=>n.forEach(t=>t(e));addEventListener(`storage`,e=>{e.storageArea===r(e=>e)&&(e.key===null?t.clear():t.delete(e.key),i(e.key))}),addEventListener(`pageshow`,e=>e.persisted&&i(null));let a=e=>t.get(e)??r(t=>t.getItem(e));return{get:a,read(e){try{return JSON.parse(a(e)??`null`)}catch{return null}},set(e,n){t.delete(e),n===null?r(t=>t.removeItem(e)):r(t=>t.setItem(e,n),()=>t.set(e,n)),i(e)},follow(e,t){let r=n=>(n===null||n===e)&&t();return n.add(r),()=>void n.delete(r)}}}var C=S(()=>localStorage);S(()=>sessionStorage);function fe(e){let t=new Set,n=()=>e,r=e=>(t.add(e),()=>void t.delete(e));return{get:n,set(n){e=n,t.forEach(e=>e())},follow:r,use:()=>pe(r,n)}}function pe(e,t){let[,n]=(0,p.useReducer)(e=>e+1,0),r=t(),i=(0,p.useRef)(r);return(0,p.useLayoutEffect)(()=>{i.current=r}),(0,p.useLayoutEffect)(()=>{let r=()=>{t()!==i.current&&n()};return r(),e(r)},[e]),r}var w=`cosmosblog.session`,T=()=>C.read(w),E=fe(T());C.follow(w,()=>E.set(T()));function me(e){C.set(M,e.name),C.set(w,JSON.stringify(e))}var he=()=>C.set(w,null);function D(e){let t=T();e&&t?.token===e&&C.set(w,JSON.stringify({name:t.name}))}async function O(e,t){let n=e.trim().toLowerCase(),[r]=Object.entries(A()).find(([,e])=>e.toLowerCase()===n)??[n],i=await ge(r),a=await t(i,r);return _e(r,a),r!==n&&a?.toLowerCase()!==n?O(e,t):{account:{name:r,token:i},username:a}}async function ge(e){let{token:t,errors:n}=await(await ce(`/development/token`,{method:`POST`,headers:{"Content-Type":`application/json`},body:JSON.stringify({name:e})})).json();if(!t)throw new y(n?.[0]?.message??`This server signs nobody in by name.`);return t}var k=`cosmosblog.usernames`,A=()=>C.read(k)??{};function _e(e,t){let n=Object.entries(A()).filter(([n,r])=>n!==e&&r.toLowerCase()!==t?.toLowerCase());t&&n.push([e,t]),C.set(k,JSON.stringify(Object.fromEntries(n)))}var j=e=>A()[e]??e,M=`cosmosblog.name`,ve=()=>j(C.get(M)??`anna`),N=e=>e?.token?e:void 0,P=()=>N(E.get()),F=()=>N(E.use()),I=({token:e})=>`Bearer ${e}`;function ye(){let e=P();return{...e&&{authorization:I(e)},"x-cosmos-diagnostics":`1`}}async function L(e,t,n){let r=new Headers(t);return r.set(`accept`,`application/graphql-response+json, application/json`),r.set(`content-type`,`application/json`),fetch(e,{method:`POST`,headers:r,body:JSON.stringify(n)})}async function R(e,t={}){let n=P(),r=new Headers(ye());for(let[e,n]of Object.entries(t))r.set(e,String(n));let i=await L(`/graphql`,r,e);return i.status!==401||!n||r.get(`authorization`)!==I(n)?i:(D(n.token),R(e,t))}var be=async(e,t)=>{let n=xe(e),r={...e,operationName:n?n.name?.value:e.operationName};if(n?.operation===`subscription`)return Se(r,t?.headers);let a=performance.now(),o,s;try{o=await(await R(r,t?.headers)).text(),s=JSON.parse(o)}catch{return{errors:[new i(b)]}}return e.operationName!==`IntrospectionQuery`&&g({result:s,milliseconds:performance.now()-a,bytes:z(o)}),s},z=e=>new Blob([e]).size;function xe({query:e,operationName:t}){try{let n=te(e).definitions.filter(e=>e.kind===c.OPERATION_DEFINITION);return n.length===1?n[0]:n.find(({name:e})=>e?.value===t)}catch{return}}function Se(e,t={}){let n=P(),r=Object.entries(t).find(([e])=>e.toLowerCase()===`authorization`),a=r?String(r[1]):n&&I(n);return{subscribe({next:t,error:o,complete:s}){let c=e=>{g({result:e,bytes:z(JSON.stringify(e))}),t(e)},l=le({authorization:a,onRefused(e){r||D(n?.token),l(),c({errors:[new i(e,{extensions:{code:`UNAUTHENTICATED`}})]}),s()}})(e,{next:c,complete:s,error:e=>Array.isArray(e)?c({errors:e}):o(e)});return{unsubscribe:l}}}}async function B(e,t){let n=await(await R({query:e,variables:t})).json();if(n.errors?.[0])throw new y(n.errors[0].message);return n.data}async function Ce(e){let{data:t,errors:n}=await(await L(`/graphql`,{authorization:`Bearer ${e}`},{query:`{ viewer { username } }`})).json();if(n?.[0])throw new y(n[0].message);return t?.viewer?.username}async function we(){let{viewer:e,feed:t}=await B(`{ viewer { id } feed(first: 20) { nodes { id commentCount likeCount author { id } } } }`,{}),n=e=>Math.min(e.commentCount,e.likeCount),r=t?.nodes.toSorted((e,t)=>n(t)-n(e))[0];return{postId:r?.id,userId:e?.id??r?.author.id}}var V=a();function H({className:e,children:t}){return(0,V.jsx)(`svg`,{className:e,viewBox:`0 0 24 24`,fill:`none`,stroke:`currentColor`,strokeWidth:`1.75`,strokeLinecap:`round`,strokeLinejoin:`round`,"aria-hidden":`true`,children:t})}var Te=()=>(0,V.jsxs)(H,{className:`graphiql-toolbar-icon`,children:[(0,V.jsx)(`circle`,{cx:`8`,cy:`15`,r:`4.5`}),(0,V.jsx)(`path`,{d:`m11.5 11.5 8-8M16 7l3 3`})]}),Ee=()=>(0,V.jsxs)(H,{children:[(0,V.jsx)(`rect`,{x:`3.5`,y:`3.5`,width:`17`,height:`17`,rx:`3`}),(0,V.jsx)(`path`,{d:`m8 9 3 3-3 3M13.5 15H17`})]}),U={title:`Request charges`,icon:()=>(0,V.jsxs)(H,{children:[(0,V.jsx)(`path`,{d:`M4 17.5a9 9 0 1 1 16 0M12 14.5l4-5`}),(0,V.jsx)(`circle`,{cx:`12`,cy:`14.5`,r:`1.2`})]}),content:De};function De(){let{last:e,answers:t,total:n}=_(),r=e?.cosmos;return(0,V.jsxs)(`section`,{className:`charges`,"aria-labelledby":`charges`,children:[(0,V.jsx)(`h2`,{id:`charges`,className:`panel-title`,children:`Request charges`}),!e&&(0,V.jsx)(`p`,{className:`panel-text`,children:`Run an operation to see what it costs in request units (RU).`}),e&&!r&&(0,V.jsx)(`p`,{className:`panel-text`,children:e.milliseconds===void 0?`Answers of subscriptions do not show their charges.`:`The last answer has no charges, because it was rejected before it was executed.`}),r&&(0,V.jsxs)(V.Fragment,{children:[(0,V.jsxs)(`dl`,{children:[(0,V.jsx)(W,{name:`RU charged`,value:String(r.requestCharge)}),(0,V.jsx)(W,{name:`RU estimated`,value:String(r.estimate)}),(0,V.jsx)(W,{name:`Requests`,value:String(r.requests.filter(e=>!e.cached).length)})]}),(0,V.jsx)(`div`,{className:`scroll`,tabIndex:0,role:`region`,"aria-label":`Requests to Cosmos DB`,children:(0,V.jsxs)(`table`,{children:[(0,V.jsx)(`thead`,{children:(0,V.jsxs)(`tr`,{children:[(0,V.jsx)(`th`,{scope:`col`,children:`Field and request`}),(0,V.jsx)(`th`,{scope:`col`,className:`number`,children:`RU`})]})}),(0,V.jsx)(`tbody`,{children:r.requests.map((e,t)=>(0,V.jsx)(Oe,{sent:e},t))})]})}),r.requests.some(e=>e.cached)&&(0,V.jsx)(`p`,{className:`panel-text`,children:`A cached read cost nothing, because nothing was written to its partition since it was last read.`})]}),t>0&&(0,V.jsxs)(`p`,{className:`panel-text`,children:[v(n),` in `,t,` `,t===1?`answer`:`answers`,` since this page was loaded.`]})]})}var W=({name:e,value:t})=>(0,V.jsxs)(`div`,{children:[(0,V.jsx)(`dt`,{children:e}),(0,V.jsx)(`dd`,{children:t})]});function Oe({sent:e}){let t=[e.partitionKey].flat();return(0,V.jsxs)(`tr`,{children:[(0,V.jsxs)(`td`,{children:[(0,V.jsx)(`code`,{children:e.path.join(`.`)||`–`}),(0,V.jsx)(`br`,{}),e.operation,` in `,(0,V.jsx)(`strong`,{children:e.container}),e.status>=400&&`, status ${e.status}`,(0,V.jsx)(`br`,{}),(0,V.jsx)(`code`,{className:`key`,title:t.join(`, `),children:t.length>1?`${t.length} partitions`:t[0]})]}),(0,V.jsxs)(`td`,{className:`number`,children:[e.cached?`cached`:e.requestCharge.toFixed(2),e.savedCharge&&(0,V.jsxs)(`small`,{children:[`saved `,e.savedCharge.toFixed(2)]})]})]})}var ke=Object.assign({"./examples/archive.graphql":`# The months that have posts, and the
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
`}),G=(e,t,n,r,i)=>({code:e,title:t,articleRU:n,query:ke[`./examples/${r}.graphql`],variables:i?K(i):``}),K=e=>JSON.stringify(e,null,2),q=[G(`Q6`,`Recent posts`,16.97,`feed`),G(`C1`,`Create a user`,5.71,`create-user`,{username:``}),G(`Q1`,`A user`,1,`user`,{userId:``}),G(`C2`,`Publish a post`,8.76,`create-post`,{title:`One partition is enough`,content:`Every list of this blog is one query in one partition.`,tags:[`data-modelling`]}),G(`Q2`,`A post`,1,`post`,{postId:``}),G(`Q3`,`A user’s posts`,6.46,`user-posts`,{userId:``}),G(`C3`,`Comment on a post`,15.27,`create-comment`,{postId:``,content:`Well said.`}),G(`Q4`,`A post’s comments`,7.72,`comments`,{postId:``}),G(`C4`,`Like a post`,14.67,`like-post`,{postId:``}),G(`Q5`,`A post’s likes`,8.92,`likes`,{postId:``}),G(`T1`,`Tags and their posts`,void 0,`tags`),G(`T2`,`The archive`,void 0,`archive`),G(`S1`,`Watch a post`,void 0,`post-changed`,{postId:``}),G(`S2`,`Watch for comments`,void 0,`comment-added`,{postId:``}),G(`S3`,`Watch the feed`,void 0,`post-published`)];function J(e){let t=Y(e);return[`postId`,`userId`,`username`].filter(e=>t?.[e]===``)}function Ae(e,t){let n=Y(e);if(!n)return e;for(let r of J(e))n[r]=t[r]??``;return K(n)}function Y(e){try{let t=JSON.parse(e);return typeof t==`object`&&t?t:void 0}catch{return}}var X=()=>matchMedia(`(max-width: 48rem)`).matches,Z={title:`Examples`,icon:Ee,content:je};function je(){let{addTab:e,changeTab:t,setVisiblePlugin:r}=n(),i=f(e=>e.tabs),a=f(e=>e.activeTabIndex),o=f(e=>e.queryEditor),s=f(e=>e.variableEditor),c=({query:e})=>i.findIndex(t=>t.query===e),l=n=>{let i=c(n);i<0?e():i!==a&&t(i),o?.setValue(n.query),s?.setValue(n.variables),X()&&r(null)};return(0,V.jsxs)(`section`,{className:`examples`,"aria-labelledby":`examples`,children:[(0,V.jsx)(`h2`,{id:`examples`,className:`panel-title`,children:`Examples`}),(0,V.jsxs)(`p`,{className:`panel-text`,children:[`The ten operations of the article that this blog implements. C are commands and need a`,` `,(0,V.jsx)(`span`,{className:`nowrap`,children:`sign-in`}),`, Q are queries. The charge is what the article measured. T are lists, and S subscriptions, that the article does not have.`]}),(0,V.jsx)(`ol`,{children:q.map(e=>(0,V.jsx)(`li`,{children:(0,V.jsxs)(`button`,{type:`button`,onClick:()=>l(e),"aria-current":c(e)===a?`true`:void 0,children:[(0,V.jsx)(`span`,{className:`code`,children:e.code}),(0,V.jsx)(`span`,{className:`title`,children:e.title}),(0,V.jsx)(`span`,{className:`charge`,children:e.articleRU&&v(e.articleRU)})]})},e.code))}),(0,V.jsxs)(`p`,{className:`panel-text`,children:[`An empty blog has nothing to read: sign in, and begin with C1. `,(0,V.jsx)(`code`,{children:`cosmosblog seed --users 20`}),` writes sample data.`]})]})}var Me=e(s(),1);function Ne(){let e=F(),[t,n]=(0,p.useState)(!1);return Ie(()=>n(!0)),(0,V.jsxs)(V.Fragment,{children:[(0,V.jsx)(ne,{label:e?`Signed in as ${j(e.name)}`:`Sign in with a development token`,className:e&&`signed-in`,onClick:()=>n(!0),children:(0,V.jsx)(Te,{})}),(0,V.jsxs)(u,{open:t,onOpenChange:n,children:[(0,V.jsxs)(`div`,{className:`graphiql-dialog-header`,children:[(0,V.jsx)(u.Title,{className:`graphiql-dialog-title`,children:`Sign in`}),(0,V.jsx)(u.Close,{})]}),(0,V.jsx)(Pe,{onDone:()=>n(!1)})]})]})}function Pe({onDone:e}){let n=F(),r=(0,p.useId)(),[i,a]=(0,p.useState)(ve),[o,s]=(0,p.useState)(``);return(0,V.jsxs)(`form`,{className:`sign-in`,onSubmit:async t=>{t.preventDefault();try{me((await O(i,Ce)).account),e()}catch(e){s(x(e))}},children:[(0,V.jsx)(u.Description,{children:`In development, the server signs in any name. The token goes with the operations of all tabs, unless a tab’s headers have another.`}),(0,V.jsx)(`label`,{htmlFor:r,children:`Name`}),(0,V.jsx)(`input`,{id:r,value:i,onChange:e=>a(e.target.value),required:!0,autoFocus:!0,maxLength:255,autoComplete:`username`,spellCheck:!1,"aria-invalid":o!==``,"aria-describedby":`${r}-fault`}),(0,V.jsx)(`p`,{id:`${r}-fault`,className:`fault`,role:`alert`,children:o}),(0,V.jsxs)(`div`,{className:`buttons`,children:[n&&(0,V.jsx)(t,{type:`button`,onClick:()=>(he(),e()),children:`Sign out`}),(0,V.jsx)(t,{type:`submit`,className:`primary`,children:`Sign in`})]})]})}var Q=new EventTarget,Fe=()=>Q.dispatchEvent(new Event(`sign-in`));function Ie(e){(0,p.useEffect)(()=>(Q.addEventListener(`sign-in`,e),()=>Q.removeEventListener(`sign-in`,e)),[e])}var $=e=>e.tabs[e.activeTabIndex]?.id;function Le(){Re();let e=f($);(0,p.useEffect)(()=>{document.querySelector(`.graphiql-tab-active`)?.scrollIntoView({block:`nearest`,inline:`nearest`})},[e])}function Re(){let e=F(),t=f(e=>e.variableEditor),n=f($),r=f(e=>e.isFetching),i=f(e=>e.tabs[e.activeTabIndex]?.query);(0,p.useEffect)(()=>{let n=t?.getValue()??``,i=J(n);if(!t||r||i.length===0)return;let a=!0;return(i.some(e=>e!==`username`)?we():Promise.resolve({})).then(r=>{let i=Ae(n,{...r,username:e&&j(e.name)});a&&t.getValue()===n&&i!==n&&t.setValue(i)},()=>{}),()=>{a=!1}},[e,t,n,r,i])}function ze(){Le();let e=Be(),{last:n}=_();return n?(0,V.jsxs)(`div`,{className:`footer`,role:`status`,children:[n.cosmos&&(0,V.jsx)(t,{type:`button`,className:`total`,onClick:e,children:v(n.cosmos.requestCharge)}),n.cosmos&&(0,V.jsx)(`span`,{children:Ve(n.cosmos.requests)}),(0,V.jsx)(`span`,{children:n.milliseconds===void 0?`live`:`${Math.round(n.milliseconds)} ms`}),(0,V.jsx)(`span`,{children:He(n.bytes)}),(0,V.jsx)(Ue,{codes:n.codes})]}):(0,V.jsx)(`p`,{className:`footer`,children:`The charge of each answer is shown here.`})}function Be(){let{setVisiblePlugin:e}=n();return()=>{(0,Me.flushSync)(()=>e(null)),document.querySelector(`[aria-label="Show ${U.title}"]`).click()}}function Ve(e){let t=e.filter(e=>!e.cached).length,n=e.length-t;if(n>0&&t===0)return`${n} cached`;let r=`${t} ${t===1?`request`:`requests`}`;return n>0?`${r}, ${n} cached`:r}var He=e=>e<1e3?`${e} bytes`:`${(e/1e3).toFixed(1)} kB`;function Ue({codes:e}){let r=F(),{run:i}=n(),[a,o]=(0,p.useState)(``);return e.includes(`UNAUTHENTICATED`)?(0,V.jsx)(t,{type:`button`,className:`next`,onClick:Fe,children:`Sign in`}):!e.includes(`USER_REQUIRED`)||!r?null:(0,V.jsxs)(V.Fragment,{children:[(0,V.jsxs)(t,{type:`button`,className:`next`,onClick:async()=>{try{await B(`mutation ($username: String!) { createUser(input: { username: $username }) { user { id } } }`,{username:r.name}),i()}catch(e){o(x(e))}},children:[`Create the user `,r.name]}),a&&(0,V.jsx)(`span`,{className:`fault`,children:a})]})}var We=q.map(({query:e,variables:t})=>({query:e,variables:t})),Ge=[ee,Z,U];(0,oe.createRoot)(document.getElementById(`root`)).render((0,V.jsxs)(V.Fragment,{children:[(0,V.jsx)(`h1`,{className:`hidden`,children:`GraphiQL of cosmosblog`}),(0,V.jsxs)(d,{fetcher:be,plugins:Ge,visiblePlugin:X()?void 0:Z,defaultTabs:We,shouldPersistHeaders:!1,showPersistHeadersSettings:!1,defaultEditorToolsVisibility:`variables`,schemaDescription:!0,children:[(0,V.jsx)(d.Logo,{children:(0,V.jsxs)(`a`,{className:`logo`,href:`/`,children:[(0,V.jsx)(`img`,{src:`/playground/icon.svg`,alt:``,width:`22`,height:`22`}),`cosmosblog`]})}),(0,V.jsx)(d.Toolbar,{children:({prettify:e,copy:t,merge:n})=>(0,V.jsxs)(V.Fragment,{children:[(0,V.jsx)(Ne,{}),e,n,t]})}),(0,V.jsx)(d.Footer,{children:(0,V.jsx)(ze,{})})]})]}));